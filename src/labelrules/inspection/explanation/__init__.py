"""Why a row gets its labels."""
