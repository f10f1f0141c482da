from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from crawler.crawls.states import CrawlStatus, RunStatus, UrlStatus
from crawler.foundation.ids import new_id, short_id


def new_job_id() -> str:
    return short_id("job")


class Crawl(models.Model):
    """What somebody wants crawled: seeds, rules, schedule. Its runs do it."""

    id = models.BigAutoField(primary_key=True)
    job_id = models.CharField(max_length=50, unique=True, default=new_job_id)
    name = models.CharField(max_length=255, unique=True)
    config = models.JSONField(default=dict)
    seed_urls = models.JSONField(default=list)
    filters = models.JSONField(default=dict)
    schedule_type = models.CharField(max_length=20, default="one_time")
    cron_expression = models.CharField(max_length=100, blank=True, default="")
    status = models.CharField(max_length=20, default=CrawlStatus.CREATED)
    pages_crawled = models.BigIntegerField(default=0)
    pages_queued = models.BigIntegerField(default=0)
    pages_failed = models.BigIntegerField(default=0)
    pages_refused = models.BigIntegerField(default=0)
    bytes_downloaded = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    next_run_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "crawl_jobs"
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(name="crawl_jobs_status", condition=Q(status__in=list(CrawlStatus))),
        ]
        indexes = [models.Index(name="crawl_jobs_status_idx", fields=["status"])]

    def __str__(self) -> str:
        return self.name


class CrawlRun(models.Model):
    """One go at a crawl, from its start to its end."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="runs")
    status = models.CharField(max_length=20, default=RunStatus.RUNNING)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    pages_crawled = models.BigIntegerField(default=0)
    pages_failed = models.BigIntegerField(default=0)
    pages_refused = models.BigIntegerField(default=0)
    bytes_downloaded = models.BigIntegerField(default=0)
    images_found = models.BigIntegerField(default=0)
    end_reason = models.TextField(blank=True, default="")

    class Meta:
        db_table = "crawl_runs"
        ordering = ("-started_at",)

    def __str__(self) -> str:
        return f"{self.crawl_id} {self.started_at}"


class CrawlDomain(models.Model):
    """What a crawl has seen of a domain's URLs, so that endless sites are still known as such after a restart."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE)
    domain = models.CharField(max_length=255)
    trap_counters = models.JSONField(default=dict)

    class Meta:
        db_table = "crawl_domains"
        constraints = [models.UniqueConstraint(name="crawl_domains_identity", fields=["crawl", "domain"])]

    def __str__(self) -> str:
        return f"{self.domain} in {self.crawl_id}"


class PageBudget(models.Model):
    """Pages of a crawl with `max_pages` that a worker set aside and has not fetched yet (a lease without a fence)."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE)
    worker = models.CharField(max_length=255)
    pages = models.IntegerField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "crawl_page_budgets"
        constraints = [models.UniqueConstraint(name="crawl_page_budgets_worker", fields=["crawl", "worker"])]

    def __str__(self) -> str:
        return f"{self.pages} pages for {self.worker}"


class FrontierURL(models.Model):
    """A URL that a crawl met: to be fetched, fetched, or refused with a reason."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False)
    url_hash = models.CharField(max_length=64)
    url = models.TextField()
    domain = models.CharField(max_length=255)
    priority = models.SmallIntegerField(default=5, db_default=5)
    depth = models.SmallIntegerField(default=0, db_default=0)
    discovered_at = models.DateTimeField(db_default=Now())
    discovered_from = models.CharField(max_length=64, null=True)
    discovered_by = models.CharField(max_length=20, default="link", db_default="link")
    status = models.CharField(max_length=20, default=UrlStatus.PENDING, db_default=UrlStatus.PENDING)
    refusal = models.CharField(max_length=40, null=True)
    refusal_detail = models.TextField(null=True)
    last_crawl_attempt = models.DateTimeField(null=True)
    crawl_count = models.SmallIntegerField(default=0, db_default=0)
    failure_count = models.SmallIntegerField(default=0, db_default=0)
    redirect_hops = models.SmallIntegerField(default=0, db_default=0)
    last_status_code = models.SmallIntegerField(null=True)
    last_error = models.TextField(null=True)
    next_crawl_after = models.DateTimeField(null=True)

    class Meta:
        db_table = "url_frontier"
        constraints = [
            models.UniqueConstraint(name="url_frontier_identity", fields=["url_hash", "crawl"]),
            models.CheckConstraint(name="url_frontier_status", condition=Q(status__in=list(UrlStatus))),
            models.CheckConstraint(name="url_frontier_priority", condition=Q(priority__gte=1, priority__lte=10)),
        ]
        indexes = [
            models.Index(
                name="url_frontier_ready", fields=["domain", "priority", "id"], condition=Q(status=UrlStatus.PENDING)
            ),
            models.Index(name="url_frontier_crawl", fields=["crawl", "status"]),
        ]

    def __str__(self) -> str:
        return self.url


class Document(models.Model):
    """The newest version of a page that was fetched; its bytes rest in the archive."""

    url_hash = models.CharField(max_length=64, primary_key=True)
    url = models.TextField()
    domain = models.CharField(max_length=255)
    crawl = models.ForeignKey(Crawl, on_delete=models.SET_NULL, null=True, db_index=False)
    http_status = models.SmallIntegerField()
    content_type = models.CharField(max_length=100, null=True)
    content_length = models.IntegerField(null=True)
    content_encoding = models.CharField(max_length=50, null=True)
    charset = models.CharField(max_length=40, null=True)
    etag = models.CharField(max_length=255, null=True)
    last_modified = models.DateTimeField(null=True)
    content_hash = models.CharField(max_length=64, null=True)
    simhash = models.BigIntegerField(null=True)
    storage_path = models.TextField(null=True)
    crawled_at = models.DateTimeField()
    changed_at = models.DateTimeField(null=True)
    depth = models.SmallIntegerField(default=0, db_default=0)
    title = models.TextField(null=True)
    outlinks_count = models.IntegerField(default=0, db_default=0)
    images_count = models.IntegerField(default=0, db_default=0)
    is_truncated = models.BooleanField(default=False, db_default=False)
    is_duplicate = models.BooleanField(default=False, db_default=False)
    duplicate_of = models.CharField(max_length=64, null=True)
    near_duplicate_of = models.CharField(max_length=64, null=True)

    class Meta:
        db_table = "crawled_documents"
        indexes = [
            models.Index(name="idx_docs_content_hash", fields=["content_hash"]),
            models.Index(name="idx_docs_domain", fields=["domain", "-crawled_at"]),
            models.Index(name="idx_docs_crawled_at", fields=["-crawled_at"]),
        ]

    def __str__(self) -> str:
        return self.url


class PageOutlinks(models.Model):
    """All links of a page in one row, JSON lists of equal length. The view `outlinks` shows them one by one."""

    source = models.OneToOneField(FrontierURL, on_delete=models.CASCADE, primary_key=True)
    targets = models.TextField()  # [frontier id, …]
    anchors = models.TextField()  # ["text", …]
    types = models.TextField(default="", db_default="")  # ["hyperlink", …]; empty: all are hyperlinks
    discovered_at = models.DateTimeField()

    class Meta:
        db_table = "page_outlinks"

    def __str__(self) -> str:
        return str(self.source_id)


class PageInlinks(models.Model):
    """Which pages of one batch link to a target. A page named here may have changed since: its outlinks decide."""

    id = models.BigAutoField(primary_key=True)
    target = models.ForeignKey(FrontierURL, on_delete=models.CASCADE, db_constraint=False)
    sources = models.TextField()  # [frontier id, …]

    class Meta:
        db_table = "page_inlinks"

    def __str__(self) -> str:
        return str(self.target_id)


class CrawlLog(models.Model):
    """One attempt at a URL, whatever came of it. Never changed, never overwritten."""

    id = models.BigAutoField(primary_key=True)
    crawl_run = models.ForeignKey(CrawlRun, on_delete=models.CASCADE, null=True, db_index=False)
    page_url = models.TextField()
    url_hash = models.CharField(max_length=64)
    domain = models.CharField(max_length=255)
    status = models.SmallIntegerField(null=True)
    error = models.TextField(null=True)
    outcome = models.CharField(max_length=20, default="page", db_default="page")
    content_type = models.CharField(max_length=100, null=True)
    bytes = models.IntegerField(default=0, db_default=0)
    response_time_ms = models.IntegerField(null=True)
    images_found = models.IntegerField(default=0, db_default=0)
    outlinks_found = models.IntegerField(default=0, db_default=0)
    address = models.CharField(max_length=45, null=True)
    storage_path = models.TextField(null=True)
    crawled_at = models.DateTimeField()

    class Meta:
        db_table = "crawl_log"
        indexes = [
            models.Index(name="crawl_log_url", fields=["url_hash", "-id"]),
            models.Index(name="crawl_log_domain", fields=["domain", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.page_url} {self.status or self.error}"


class Image(models.Model):
    """An image that pages name. Its bytes are another matter."""

    id = models.BigAutoField(primary_key=True)
    url_hash = models.CharField(max_length=64, unique=True)
    url = models.TextField()
    alt = models.TextField(blank=True, default="", db_default="")
    width = models.IntegerField(null=True)
    height = models.IntegerField(null=True)
    storage_path = models.TextField(null=True)
    first_seen_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "images"

    def __str__(self) -> str:
        return self.url


class Provenance(models.Model):
    """Where an image was seen."""

    id = models.BigAutoField(primary_key=True)
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="seen_on", db_index=False)
    source_page_hash = models.CharField(max_length=64)
    source_page_url = models.TextField()
    source_domain = models.CharField(max_length=255)
    discovery_type = models.CharField(max_length=20, default="discovery", db_default="discovery")
    crawl_run = models.ForeignKey(CrawlRun, on_delete=models.SET_NULL, null=True, db_index=False)
    discovered_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "provenance"
        constraints = [
            models.UniqueConstraint(name="provenance_identity", fields=["image", "source_page_hash"]),
        ]
        indexes = [models.Index(name="provenance_domain", fields=["source_domain"])]

    def __str__(self) -> str:
        return f"{self.image_id} on {self.source_page_url}"
