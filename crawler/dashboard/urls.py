from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path
from django.views.generic import RedirectView

from crawler.dashboard import views

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="dashboard")),
    path("dashboard/", views.overview, name="dashboard"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("favicon.ico", RedirectView.as_view(url="/static/dashboard/icon.svg")),
    path("logout/", LogoutView.as_view(), name="logout"),
]
