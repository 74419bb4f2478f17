"""The chapter's two case studies repeated: models, tests, times, and a report beside the text."""

from casestudies.both_studies import CaseStudies, CaseStudyProgress, case_studies
from casestudies.claims import Claim

__all__ = ["CaseStudies", "CaseStudyProgress", "Claim", "case_studies"]
