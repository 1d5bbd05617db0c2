"""Holds what the tests of pages share. A module that opens its page in another way has its own
`page`."""

import pytest
import trace_pages


@pytest.fixture(scope="module")
def browser():
    with trace_pages.browser() as instance:
        yield instance


@pytest.fixture
def page(browser, path):
    """Gives the module's page at `path`, which must end without a complaint."""
    page = trace_pages.Page(browser, path).ready()
    yield page
    assert page.complaints == []
    page.close()
