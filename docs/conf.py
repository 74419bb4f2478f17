"""Settings of the documentation; `make docs` builds it, and needs no network to do so."""

import re

import labelrules

project = "labelrules"
author = "The labelrules authors"
copyright = author
version = release = labelrules.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3  # so that pages can link to sections of each other

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of classes lists them

html_theme = "pydata_sphinx_theme"
html_title = "labelrules"
html_static_path = ["_static"]
html_css_files = ["labelrules.css"]
html_show_sourcelink = False
html_sidebars = {"*": []}  # a page without pages below it has nothing to list beside it
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _without_last_empty_line(app, docname, source):
    """Drop the empty line before a closing fence: doctest needs it, readers do not."""
    source[0] = re.sub(r"\n\n```\n", "\n```\n", source[0])


def setup(app):
    app.connect("source-read", _without_last_empty_line)
