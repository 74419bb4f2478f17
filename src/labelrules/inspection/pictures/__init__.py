"""Pictures as SVG, from templates: for pages and notebooks, without matplotlib."""
