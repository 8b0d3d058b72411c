"""The pages of the human side."""

from django.urls import URLPattern, path

from annotate.views import (
    exporting,
    files,
    following,
    health,
    home,
    importing,
    items,
    people,
    project,
    reach,
    signing_in,
    stage,
    tokens,
    work,
)

urlpatterns: list[URLPattern] = [
    # Coming in, and where people work
    path("", home.home, name="home"),
    path("sign-in/", signing_in.sign_in, name="sign-in"),
    path("sign-out/", signing_in.sign_out, name="sign-out"),
    path("join/<str:token>/", signing_in.join, name="join"),
    path("work/a/<str:token>/submit/", work.submit, name="work-submit"),
    path("work/a/<str:token>/draft/", work.draft, name="work-draft"),
    path("work/a/<str:token>/skip/", work.skip, name="work-skip"),
    path("work/a/<str:token>/renew/", work.renew, name="work-renew"),
    path("work/a/<str:token>/hints/", work.hints, name="work-hints"),
    path("work/a/<str:token>/revise/", work.revise, name="work-revise"),
    path("work/<slug:project>/<slug:stage>/", work.work, name="work"),
    # What programs sign in with
    path("account/tokens/", tokens.token_list, name="tokens"),
    path("account/tokens/new/", tokens.token_new, name="token-new"),
    path("account/tokens/<int:token_id>/revoke/", tokens.token_revoke, name="token-revoke"),
    # A project and those who run it
    path("projects/new/", project.project_new, name="project-new"),
    path("p/<slug:slug>/", project.project, name="project"),
    path("p/<slug:slug>/settings/", project.project_settings, name="project-settings"),
    path("p/<slug:slug>/leases/", project.project_leases, name="project-leases"),
    path("p/<slug:slug>/items/", items.items, name="items"),
    path("p/<slug:slug>/items/review/<int:stage_item_id>/", items.stage_item_review, name="stage-item-review"),
    path("p/<slug:slug>/people/", people.people_list, name="people"),
    path("p/<slug:slug>/people/codes/", people.people_codes, name="people-codes"),
    path("p/<slug:slug>/people/groups/", people.people_groups, name="people-groups"),
    path("p/<slug:slug>/people/invite/", people.people_invite, name="people-invite"),
    path(
        "p/<slug:slug>/people/invite/<int:invite_id>/revoke/", people.people_invite_revoke, name="people-invite-revoke"
    ),
    path("p/<slug:slug>/people/exclusions/<int:exclusion_id>/lift/", people.exclusion_lift, name="exclusion-lift"),
    path("p/<slug:slug>/people/<str:pseudonym>/", people.person, name="person"),
    path("p/<slug:slug>/people/<str:pseudonym>/state/", people.person_state, name="person-state"),
    path("p/<slug:slug>/people/<str:pseudonym>/code/", people.person_code, name="person-code"),
    path("p/<slug:slug>/people/<str:pseudonym>/exclude/", people.person_exclude, name="person-exclude"),
    path("p/<slug:slug>/stages/new/", stage.stage_new, name="stage-new"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/", stage.stage, name="stage"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/state/", stage.stage_state, name="stage-state"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/form/", stage.stage_form, name="stage-form"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/preview/", stage.stage_preview, name="stage-preview"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/guidelines/", stage.stage_guidelines, name="stage-guidelines"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/items/", stage.stage_items, name="stage-items"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/reach/", reach.stage_reach, name="stage-reach"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/options/", following.stage_options, name="stage-options"),
    path("p/<slug:slug>/stages/<slug:stage_slug>/feeds/", following.stage_feeds, name="stage-feeds"),
    path(
        "p/<slug:slug>/stages/<slug:stage_slug>/feeds/<int:feed_id>/end/",
        following.stage_feed_end,
        name="stage-feed-end",
    ),
    path("p/<slug:slug>/stages/<slug:stage_slug>/cross-check/", following.stage_cross_check, name="stage-cross-check"),
    # Exports, and archives that become projects
    path("p/<slug:slug>/export/answers.csv", files.export_answers, name="export-answers"),
    path("p/<slug:slug>/exports/", exporting.exports, name="exports"),
    path("p/<slug:slug>/exports/<int:export_id>/step/", exporting.export_step, name="export-step"),
    path("p/<slug:slug>/exports/<int:export_id>/file/", exporting.export_file, name="export-file"),
    path("projects/restore/", exporting.restore, name="restore"),
    path("projects/restore/<int:restoration_id>/", exporting.restoration, name="restoration"),
    path("projects/restore/<int:restoration_id>/cancel/", exporting.restoration_cancel, name="restoration-cancel"),
    # Import
    path("p/<slug:slug>/import/", importing.upload, name="import"),
    path("p/<slug:slug>/import/<int:job_id>/", importing.job, name="import-job"),
    path("p/<slug:slug>/import/<int:job_id>/mapping/", importing.mapping, name="import-mapping"),
    path("p/<slug:slug>/import/<int:job_id>/progress/", importing.progress, name="import-progress"),
    path("p/<slug:slug>/import/<int:job_id>/step/", importing.step, name="import-step"),
    path("files/<int:file_id>/", files.stored_file, name="file"),
    # The installation itself; last, so that no page of this side pays for it
    path("health/live/", health.live, name="health-live"),
    path("health/ready/", health.ready, name="health-ready"),
]
