"""Requests made from the description of the interface, right and wrong: none breaks the server.

Schemathesis makes them from the OpenAPI description. Answers must be as described, wrong requests
must be refused, and what is refused changes nothing.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from extras import needs
from labelrules.studio.web.api import RESOURCES
from labelrules.studio.web.app import create_app
from workbench_site import TOKEN, clinic_editor, site_of, texts

schemathesis = needs("schemathesis")
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.python.asgi import HOST  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

HEADERS = {"Authorization": f"Bearer {TOKEN}"}
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance, negative_data_rejection,
]  # fmt: skip
REFUSED = (400, 403, 404, 405, 409, 413)


@pytest.fixture(scope="module")
def site():
    return site_of(clinic_editor())


@pytest.fixture(scope="module")
def described(site):
    app = create_app(site, (HOST,))
    rejected = {"expected-statuses": list(map(str, REFUSED))}
    config = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": rejected}})
    return schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=HEADERS, config=config)


def state_of(site):
    """All that a request could change."""
    return site.state.revision, texts(site), site.job.number, len(site.state.editor.openings)


def send(case, site):
    """Send a request, and check its answer and what it has changed."""
    before = state_of(site)
    answer = case.call(headers={**(case.headers or {}), **HEADERS})
    case.validate_response(answer, checks=CHECKS, headers=HEADERS)
    if answer.status_code in REFUSED:
        assert state_of(site) == before
    else:
        assert answer.status_code == 200


def try_all(described, site, mode, n_examples):
    quick = settings(
        max_examples=n_examples, deadline=None, phases=[Phase.generate], derandomize=True,
        database=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    n_tried = 0
    for found in described.get_all_operations():
        operation = found.ok()

        @quick
        @given(operation.as_strategy(generation_mode=mode))
        def requests(case):
            send(case, site)

        requests()
        n_tried += 1
    return n_tried


@pytest.mark.parametrize(
    ("mode", "n_examples"), [(GenerationMode.POSITIVE, 1), (GenerationMode.NEGATIVE, 4)]
)
def test_generated_requests(described, site, mode, n_examples):
    assert try_all(described, site, mode, n_examples) == len(RESOURCES)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_many_generated_requests(described, site, mode):
    assert try_all(described, site, mode, 60) == len(RESOURCES)
