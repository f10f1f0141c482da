from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models

from crawler.accounts.roles import Role, permits
from crawler.foundation.ids import new_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, username: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(username=self.model.normalize_username(username), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(username, password, **({"role": Role.ADMIN} | fields))


class User(AbstractBaseUser):
    """A person or program with a role. Permissions follow from the role alone."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    username = models.CharField(max_length=150, unique=True, validators=[UnicodeUsernameValidator()])
    email = models.EmailField(blank=True)
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField("active", default=True, help_text="Switched off: no login, and no token works.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UserManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        ordering = ("username",)
        constraints = (
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="accounts_user_role_known"),
        )

    def __str__(self) -> str:
        return self.username

    @property
    def is_staff(self) -> bool:
        """May open the admin pages; what is in them depends on the role."""
        return self.is_active

    @property
    def is_superuser(self) -> bool:
        return self.is_active and self.role == Role.ADMIN

    def has_perm(self, perm: str, obj: object = None) -> bool:
        return self.is_active and permits(self.role, perm)

    def has_perms(self, perms: list[str], obj: object = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perms)

    def has_module_perms(self, app_label: str) -> bool:
        return self.has_perm(f"{app_label}.view_anything")
