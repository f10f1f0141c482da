"""A one-shot crawl runs on settings of its own, which must not drift from the platform's."""

from crawler.project import crawl_settings, settings


def test_what_both_settings_say_is_the_same() -> None:
    differ = {"INSTALLED_APPS", "LOGGING", "CRAWLSPACE", "DATABASES"}  # Django adds to the last
    shared = [name for name in vars(crawl_settings) if name.isupper() and name in vars(settings) and name not in differ]
    assert len(shared) > 3
    assert {name: getattr(crawl_settings, name) for name in shared} == {
        name: getattr(settings, name) for name in shared
    }


def test_its_apps_are_some_of_the_platforms() -> None:
    assert set(crawl_settings.INSTALLED_APPS) < set(settings.INSTALLED_APPS)
