"""The addresses of the API's human side, below /api/v1/."""

from django.urls import URLPattern, path

from annotate.api import exports, gold, imports, items, judging, projects, quality, questions, schema, stages, work

urlpatterns: list[URLPattern] = [
    path("schema/", schema.schema, name="api-schema"),
    path("me/", projects.Me.as_view(), name="api-me"),
    # Where somebody answers
    path("work/", work.Work.as_view(), name="api-work"),
    path("work/<slug:project>/<slug:stage>/", work.WorkStage.as_view(), name="api-work-stage"),
    path("work/<slug:project>/<slug:stage>/next/", work.WorkNext.as_view(), name="api-work-next"),
    path("work/<slug:project>/<slug:stage>/qualify/", work.WorkQualify.as_view(), name="api-work-qualify"),
    path("assignments/<slug:token>/submit/", work.AssignmentSubmit.as_view(), name="api-assignment-submit"),
    path("assignments/<slug:token>/draft/", work.AssignmentDraft.as_view(), name="api-assignment-draft"),
    path("assignments/<slug:token>/skip/", work.AssignmentSkip.as_view(), name="api-assignment-skip"),
    path("assignments/<slug:token>/votes/", judging.AssignmentVotes.as_view(), name="api-assignment-votes"),
    path("assignments/<slug:token>/decide/", judging.AssignmentDecide.as_view(), name="api-assignment-decide"),
    path("assignments/<slug:token>/ask/", questions.AssignmentAsk.as_view(), name="api-assignment-ask"),
    # A project
    path("projects/", projects.Projects.as_view(), name="api-projects"),
    path("projects/<slug:slug>/", projects.ProjectInFull.as_view(), name="api-project"),
    path("projects/<slug:slug>/items/", items.Items.as_view(), name="api-items"),
    path("projects/<slug:slug>/item-sets/", items.ItemSets.as_view(), name="api-item-sets"),
    path("projects/<slug:slug>/decisions/", judging.Decisions.as_view(), name="api-decisions"),
    path("projects/<slug:slug>/gold/", gold.GoldVersions.as_view(), name="api-gold"),
    path("projects/<slug:slug>/gold-proposals/", gold.GoldProposals.as_view(), name="api-gold-proposals"),
    path(
        "projects/<slug:slug>/gold-proposals/<int:resolution_id>/",
        gold.GoldProposalInFull.as_view(),
        name="api-gold-proposal",
    ),
    path("projects/<slug:slug>/questions/", questions.Questions.as_view(), name="api-questions"),
    path(
        "projects/<slug:slug>/questions/<int:question_id>/answer/",
        questions.QuestionAnswer.as_view(),
        name="api-question-answer",
    ),
    path("projects/<slug:slug>/imports/", imports.Imports.as_view(), name="api-imports"),
    path("projects/<slug:slug>/imports/<int:job_id>/", imports.ImportInFull.as_view(), name="api-import"),
    path("projects/<slug:slug>/imports/<int:job_id>/start/", imports.ImportStart.as_view(), name="api-import-start"),
    path("projects/<slug:slug>/imports/<int:job_id>/state/", imports.ImportState.as_view(), name="api-import-state"),
    path("projects/<slug:slug>/stages/", stages.Stages.as_view(), name="api-stages"),
    path("projects/<slug:slug>/stages/<slug:stage_slug>/", stages.StageInFull.as_view(), name="api-stage"),
    path("projects/<slug:slug>/stages/<slug:stage_slug>/state/", stages.StageState.as_view(), name="api-stage-state"),
    path("projects/<slug:slug>/stages/<slug:stage_slug>/items/", stages.StageItems.as_view(), name="api-stage-items"),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/options/",
        stages.StageOptions.as_view(),
        name="api-stage-options",
    ),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/cross-check/",
        stages.StageCrossCheck.as_view(),
        name="api-stage-cross-check",
    ),
    path("projects/<slug:slug>/stages/<slug:stage_slug>/audit/", stages.StageAudit.as_view(), name="api-stage-audit"),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/quality/",
        quality.StageQuality.as_view(),
        name="api-stage-quality",
    ),
    path("projects/<slug:slug>/feeds/", stages.Feeds.as_view(), name="api-feeds"),
    path("projects/<slug:slug>/feeds/<int:feed_id>/", stages.FeedInFull.as_view(), name="api-feed"),
    path(
        "projects/<slug:slug>/stages/<slug:stage_slug>/resolutions/",
        stages.Resolutions.as_view(),
        name="api-resolutions",
    ),
    path("projects/<slug:slug>/exports/answers.csv", exports.ExportAnswers.as_view(), name="api-export-answers"),
    path("projects/<slug:slug>/exports/", exports.Exports.as_view(), name="api-exports"),
    path("projects/<slug:slug>/exports/<int:export_id>/", exports.ExportInFull.as_view(), name="api-export"),
    path("projects/<slug:slug>/exports/<int:export_id>/state/", exports.ExportState.as_view(), name="api-export-state"),
    path("projects/<slug:slug>/exports/<int:export_id>/file/", exports.ExportFile.as_view(), name="api-export-file"),
]
