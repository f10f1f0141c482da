"""Certificates and TLS servers of every bad kind, made on the spot."""

from __future__ import annotations

import ssl
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "site.test"
# 1,024 bits, where 2,048 are the least that is safe.
SMALL_DH_PARAMETERS = """\
-----BEGIN X9.42 DH PARAMETERS-----
MIIBJgKBgQDion2/jYQ2jGlcDKGBI2OEi/LTn+X//J6slMTd0v8xElOToqJrwS6x
cQwhlOFvsjHczKyOYRf7HinKmpVyBIkJq9Qx378IalSqKoJlWdp/9vsvVPQLwmm2
4Wfe3PMloPGb3N8rkfT4JxJWZD4QwBtHvoDguJuUnP3mVh76O4S+XQKBgCYNzdNN
+ufxWeTQvVd4gFJP9E8TeI8FZSendhhgjJy8dwaXghA2vD9sBfBLP2YkCgMbF12s
PAqGjs5Ij+GsyY6O6I0XBqBArIA/JgumTAACC6Fy9/gxKMRWeC3YLLLSlmB/C2Rv
iP2ri8EpvdgKmOdgTNXEmtohMtqmluOayy6HAh0Axkzsl7TbLPrlN31BkaTMJ/Zp
Ekc2gwo3zQ5/pw==
-----END X9.42 DH PARAMETERS-----
"""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def server_context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def expired(authority: trustme.CA) -> ssl.SSLContext:
    return server_context(authority.issue_cert(HOST, not_before=LONG_AGO, not_after=LONG_AGO + timedelta(days=90)))


def with_many_names(authority: trustme.CA, count: int) -> ssl.SSLContext:
    return server_context(authority.issue_cert(HOST, *(f"name-{number}.example" for number in range(count))))


def self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    chain, private = folder / "self.pem", folder / "self.key"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, private)
    return context


def only_version(authority: trustme.CA, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = server_context(authority.issue_cert(HOST))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    return context


def only_ciphers(authority: trustme.CA, ciphers: str) -> ssl.SSLContext:
    context = server_context(authority.issue_cert(HOST, key_type=trustme.KeyType.RSA))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    return context


def with_small_dh_group(authority: trustme.CA, folder: Path) -> ssl.SSLContext:
    context = only_ciphers(authority, "DHE")
    parameters = folder / "dh.pem"
    parameters.write_text(SMALL_DH_PARAMETERS)
    context.load_dh_params(str(parameters))
    return context


def refusing_the_name(authority: trustme.CA) -> ssl.SSLContext:
    """As a server does that knows no site of the name in the ClientHello."""
    context = server_context(authority.issue_cert(HOST))

    def unknown(connection: object, name: str | None, own: ssl.SSLContext) -> int:
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    context.sni_callback = unknown
    return context
