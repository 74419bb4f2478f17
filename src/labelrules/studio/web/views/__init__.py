"""The views of the workbench: from the present state and the fields of an address to a page."""
