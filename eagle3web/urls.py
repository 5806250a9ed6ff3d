"""Addresses of the site."""

from django.contrib import admin
from django.urls import path

from eagle3web.api import api, healthz
from eagle3web.views import (
    benchmarks,
    budgets,
    checkpoints,
    datasets,
    engines,
    hosts,
    icon,
    imports,
    log,
    new_run,
    overview,
    run,
    runs,
    samples,
    search,
    sign_in,
)
from eagle3web.views.new_stage import FORMS, new_stage
from eagle3web.views.verbs import ACTS, verb

handler404 = "eagle3web.api.site.not_found"
handler500 = "eagle3web.api.site.failed"
urlpatterns = [
    path("", overview.front, name="overview"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/link/<str:token>", sign_in.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("projects/", overview.of_project("project")),
    path("budgets/", overview.of_project("budgets")),
    path("runs/", overview.of_project("runs")),
    path("projects/<str:slug>/", overview.show, name="project"),
    path("projects/<str:slug>/budgets/", budgets.show, name="budgets"),
    path("projects/<str:slug>/runs/", runs.show, name="runs"),
    path("projects/<str:slug>/runs/new/", new_run.show, name="run-new"),
    *(path(f"projects/<str:slug>/runs/new/{name}/", new_stage(name), name=f"run-new-{name}") for name in FORMS),
    path("runs/<int:run_id>/", run.newest_attempt, name="run"),
    path("runs/<int:run_id>/attempts/<int:number>/", run.one_attempt, name="attempt"),
    path("runs/<int:run_id>/attempts/<int:number>/log/", log.lines, name="attempt-log"),
    path("runs/<int:run_id>/attempts/<int:number>/log.txt", log.download, name="attempt-log-file"),
    path("runs/<int:run_id>/attempts/<int:number>/samples/", samples.show, name="attempt-samples"),
    *(path(f"runs/<int:run_id>/{name}/", verb(name), name=f"run-{name}") for name in ACTS),
    path("checkpoints/", overview.of_project("checkpoints")),
    path("projects/<str:slug>/checkpoints/", checkpoints.show_all, name="checkpoints"),
    path("checkpoints/<int:checkpoint_id>/", checkpoints.show, name="checkpoint"),
    path("checkpoints/<int:checkpoint_id>/promote/", checkpoints.promote, name="checkpoint-promote"),
    path("checkpoints/<int:checkpoint_id>/download.tar", checkpoints.download, name="checkpoint-download"),
    path("benchmarks/", overview.of_project("benchmarks")),
    path("projects/<str:slug>/benchmarks/", benchmarks.show_all, name="benchmarks"),
    path("benchmarks/<int:benchmark_id>/", benchmarks.show, name="benchmark"),
    path("datasets/", datasets.show_all, name="datasets"),
    path("datasets/import/", imports.show, name="dataset-import"),
    path("datasets/<str:slug>/", datasets.show, name="dataset"),
    path("datasets/<str:slug>/edit/", datasets.edit, name="dataset-edit"),
    path("datasets/<str:slug>/prompts/", datasets.prompts, name="dataset-prompts"),
    path("datasets/<str:slug>/revisions/<int:revision_id>/report.json", datasets.report, name="dataset-report"),
    path("datasets/<str:slug>/revisions/<int:revision_id>/dismiss/", imports.dismiss, name="import-dismiss"),
    path("engines/", engines.show, name="engines"),
    path("engines/register/", engines.register, name="engine-register"),
    path("hosts/<path:name>/", hosts.show, name="host"),
    path("search/", search.show, name="search"),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("healthz", healthz, name="healthz"),
    path("favicon.ico", icon.favicon),
]
