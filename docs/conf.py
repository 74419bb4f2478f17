"""Settings of the documentation; `make docs` builds it, and needs no network to do so."""

import json
import re
from pathlib import Path

import labelrules

project = "labelrules"
author = "The labelrules authors"
copyright = author
version = release = labelrules.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "notebooks/*.py", "examples", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]

myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
nb_execution_mode = "off"  # `make notebook` has run them, and their results are in the files
# Each build runs the examples whose code has changed, and fails if one of them does.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 5,
}

myst_heading_anchors = 4  # so that pages can link to sections of each other

autosummary_generate = True
# Names that differ in case only would share a page where file names know no case.
autosummary_filename_map = {
    f"labelrules.measures.{name}": f"labelrules.measures.{name}-class"
    for name in ("Confusion", "Formula", "Tally", "Traits")
}
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of classes lists them

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "labelrules"
html_static_path = ["_static"]
html_css_files = ["labelrules.css"]
html_show_sourcelink = False
# A list of all names of the reference, or of one page, would help nobody.
_WITHOUT_LIST = ("index", "get-started", "choosing", "api", "api/generated/*")
html_sidebars = {page: [] for page in _WITHOUT_LIST}
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _without_last_empty_line(app, docname, source):
    """Drop the empty line before a closing fence: doctest needs it, readers do not."""
    source[0] = re.sub(r"\n\n```\n", "\n```\n", source[0])


def _without_empty_words(app, what, name, obj, options, lines):
    """Drop what Python says of a field of a named tuple when nobody else said anything."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def _draw_pictures(app):
    """The search trees of the pages, as they come out of the code of the day."""
    import matplotlib

    from labelrules.inspection import plot_search_tree
    from labelrules.measures import COUNTEREXAMPLES
    from labelrules.search import search_tree

    matplotlib.use("svg")
    Y = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    figure = Y, [False] * 3 + [True] * 3, "precision/micro/partial"
    first_three = [row[:3] for row in Y], *figure[1:]
    missed = COUNTEREXAMPLES["f-partial-samples-finds"]
    missed = missed.Y, missed.covered, missed.measure, "breadth-first"
    pictures = {
        "figure": plot_search_tree(
            search_tree(*figure, "tree"), also=[search_tree(*figure, "decomposable")]
        ),
        "absence": plot_search_tree(search_tree(*first_three, "tree", polarity="both")),
        "missed": plot_search_tree(search_tree(*missed, even_if_invalid=True)),
    }
    folder = Path(app.srcdir) / "_build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, ax in pictures.items():
        ax.figure.savefig(folder / f"{name}.svg")
        matplotlib.pyplot.close(ax.figure)


def _write_math(writer, node):
    """Formulas as MathML, which browsers show without a script from elsewhere."""
    # Imported here, because the tests import this file where docutils may be missing.
    from docutils.nodes import SkipNode
    from docutils.utils.math.latex2mathml import tex2mathml

    # docutils knows no \textit, and few fonts have an overline that grows with what is below it.
    tex = node.astext().replace(r"\textit{", r"\text{@")
    mathml = tex2mathml(tex, as_block=node.tagname == "math_block")
    mathml = mathml.replace("<mtext>@", '<mtext class="label">')
    overlined = r'<mover accent="false">(.*?)<mo accent="true">_</mo>\s*</mover>'
    writer.body.append(
        re.sub(overlined, r'<mrow class="absent">\1</mrow>', mathml, flags=re.DOTALL)
    )
    raise SkipNode


def _write_schema(app, exception):
    """The JSON schema of model files, beside the pages: at a lasting address."""
    from labelrules import json_schema

    if exception is None and app.builder.format == "html":
        schema = json_schema()
        text = json.dumps(schema, indent=1) + "\n"
        (Path(app.outdir) / schema["$id"]).write_text(text, encoding="utf-8")


def setup(app):
    app.add_html_math_renderer("mathml", (_write_math, None), (_write_math, None))
    app.connect("builder-inited", _draw_pictures)
    app.connect("build-finished", _write_schema)
    app.connect("source-read", _without_last_empty_line)
    app.connect("autodoc-process-docstring", _without_empty_words)
