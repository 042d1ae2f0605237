//! The one table of what providers' keys look like: a prefix, an alphabet, a length, or a function that finds out.
//!
//! To add a provider, add a row. A row is worth having where nothing else looks like it: the shorter the prefix, the more exact the body.

use super::secrets as check;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAlphabet {
    Alnum,
    Upper,
    Hex,
    Url,
    /// The URL alphabet plus a dot.
    Dotted,
    Base64,
}

impl KeyAlphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'='),
        }
    }
}

pub(super) enum KeyShape {
    Body(KeyAlphabet, usize, usize),
    Checked(fn(&str, usize) -> Option<Range<usize>>),
}

use KeyAlphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};
use KeyShape::{Body, Checked};

/// Anchor, reported kind, and what must follow.
pub(super) type AnchorRow = (&'static str, &'static str, KeyShape);

/// Longer anchors come before their prefixes.
pub(super) static ANCHORS: &[AnchorRow] = &[
    // Clouds.
    ("AKIA", "aws-access-key", Body(Upper, 16, 16)),
    ("ASIA", "aws-access-key", Body(Upper, 16, 16)),
    ("ABIA", "aws-access-key", Body(Upper, 16, 16)),
    ("ACCA", "aws-access-key", Body(Upper, 16, 16)),
    ("AIza", "google-key", Body(Url, 35, 35)),
    ("ya29.", "google-token", Body(Dotted, 30, 1024)),
    ("GOCSPX-", "google-client-secret", Body(Url, 28, 28)),
    ("Q~", "azure-client-secret", Checked(check::azure_secret)),
    ("sig=", "azure-signature", Checked(check::azure_signature)),
    ("webhook.office.com/webhookb2/", "teams-webhook", Checked(check::teams_webhook)),
    ("LTAI", "alibaba-access-key", Body(Alnum, 16, 20)),
    ("dop_v1_", "digitalocean-token", Body(Hex, 64, 64)),
    ("doo_v1_", "digitalocean-token", Body(Hex, 64, 64)),
    ("dor_v1_", "digitalocean-token", Body(Hex, 64, 64)),
    ("HRKU-", "heroku-key", Body(Url, 36, 64)),
    ("v1.0-", "cloudflare-origin-key", Checked(check::cloudflare_origin)),
    ("fm2_", "fly-token", Body(Base64, 60, 2048)),
    ("nfp_", "netlify-token", Body(Alnum, 36, 40)),
    ("pul-", "pulumi-token", Body(Hex, 40, 40)),
    (".atlasv1.", "terraform-token", Checked(check::match_terraform)),
    ("hvs.", "vault-token", Body(Url, 24, 200)),
    ("hvb.", "vault-token", Body(Url, 100, 300)),
    ("pscale_tkn_", "planetscale-token", Body(Dotted, 32, 64)),
    ("pscale_pw_", "planetscale-password", Body(Dotted, 32, 64)),
    ("pscale_oauth_", "planetscale-token", Body(Dotted, 32, 64)),
    ("sbp_", "supabase-token", Body(Hex, 40, 40)),
    ("sb_secret_", "supabase-key", Body(Url, 28, 48)),
    ("dp.pt.", "doppler-token", Body(Alnum, 40, 44)),
    ("dp.st.", "doppler-token", Body(Dotted, 40, 64)),
    ("dp.sa.", "doppler-token", Body(Alnum, 40, 44)),
    ("ops_eyJ", "one-password-token", Body(Base64, 200, 4096)),
    // Where code lies and packages come from.
    ("ghp_", "github-token", Body(Alnum, 36, 255)),
    ("gho_", "github-token", Body(Alnum, 36, 255)),
    ("ghu_", "github-token", Body(Alnum, 36, 255)),
    ("ghs_", "github-token", Body(Alnum, 36, 255)),
    ("ghr_", "github-token", Body(Alnum, 36, 255)),
    ("github_pat_", "github-token", Body(Url, 60, 255)),
    ("glpat-", "gitlab-token", Body(Dotted, 20, 64)),
    ("glrt-", "gitlab-token", Body(Dotted, 20, 64)),
    ("gldt-", "gitlab-token", Body(Dotted, 20, 64)),
    ("glptt-", "gitlab-token", Body(Dotted, 20, 64)),
    ("glcbt-", "gitlab-token", Body(Dotted, 20, 64)),
    ("glsoat-", "gitlab-token", Body(Dotted, 20, 64)),
    ("GR1348941", "gitlab-token", Body(Url, 20, 20)),
    ("ATBB", "bitbucket-password", Body(Alnum, 28, 36)),
    ("ATATT3", "atlassian-token", Body(Base64, 120, 300)),
    ("npm_", "npm-token", Body(Alnum, 36, 36)),
    ("pypi-AgE", "pypi-token", Body(Url, 50, 512)),
    ("rubygems_", "rubygems-key", Body(Hex, 48, 48)),
    ("cio", "cargo-token", Body(Alnum, 32, 32)),
    ("oy2", "nuget-key", Body(Alnum, 43, 43)),
    ("dckr_pat_", "docker-token", Body(Url, 27, 40)),
    ("AKCp", "artifactory-key", Body(Alnum, 60, 80)),
    ("squ_", "sonarqube-token", Body(Hex, 40, 40)),
    ("sqp_", "sonarqube-token", Body(Hex, 40, 40)),
    ("sqa_", "sonarqube-token", Body(Hex, 40, 40)),
    ("PMAK-", "postman-key", Body(Url, 59, 59)),
    ("sgp_", "sourcegraph-token", Body(Url, 40, 64)),
    // Models.
    ("sk-ant-", "anthropic-key", Body(Url, 32, 200)),
    ("sk-proj-", "openai-key", Body(Url, 32, 220)),
    ("sk-svcacct-", "openai-key", Body(Url, 32, 220)),
    ("sk-admin-", "openai-key", Body(Url, 32, 220)),
    ("sk-or-v1-", "openrouter-key", Body(Hex, 64, 64)),
    ("sk-lf-", "langfuse-key", Body(Url, 36, 36)),
    ("sk-", "openai-key", Body(Alnum, 20, 64)),
    ("hf_", "hugging-face-token", Body(Alnum, 34, 40)),
    ("gsk_", "groq-key", Body(Alnum, 40, 64)),
    ("pplx-", "perplexity-key", Body(Alnum, 40, 64)),
    ("xai-", "xai-key", Body(Alnum, 60, 100)),
    ("r8_", "replicate-token", Body(Alnum, 37, 40)),
    ("nvapi-", "nvidia-key", Body(Url, 60, 72)),
    ("csk-", "cerebras-key", Body(Alnum, 40, 64)),
    ("tvly-", "tavily-key", Body(Url, 28, 64)),
    ("lsv2_pt_", "langsmith-key", Body(Url, 43, 43)),
    ("lsv2_sk_", "langsmith-key", Body(Url, 43, 43)),
    ("pcsk_", "pinecone-key", Body(Url, 60, 80)),
    ("fw_", "fireworks-key", Body(Alnum, 22, 28)),
    ("jina_", "jina-key", Body(Alnum, 48, 64)),
    ("e2b_", "e2b-key", Body(Hex, 40, 40)),
    ("dapi", "databricks-token", Body(Hex, 32, 32)),
    ("sk_live_", "stripe-key", Body(Alnum, 16, 128)),
    ("sk_test_", "stripe-key", Body(Alnum, 16, 128)),
    ("sk_", "elevenlabs-key", Body(Hex, 48, 48)),
    // Messages and money.
    ("xox", "slack-token", Checked(check::match_slack_token)),
    ("xapp-", "slack-token", Body(Url, 40, 200)),
    ("hooks.slack.com/services/", "slack-webhook", Checked(check::slack_webhook)),
    ("discord.com/api/webhooks/", "discord-webhook", Checked(check::discord_webhook)),
    (".G", "discord-token", Checked(check::discord_token)),
    (".X", "discord-token", Checked(check::discord_token)),
    (".Y", "discord-token", Checked(check::discord_token)),
    (":AA", "telegram-token", Checked(check::match_telegram)),
    ("rk_live_", "stripe-key", Body(Alnum, 16, 128)),
    ("rk_test_", "stripe-key", Body(Alnum, 16, 128)),
    ("whsec_", "stripe-webhook-secret", Body(Alnum, 32, 64)),
    ("SG.", "sendgrid-key", Checked(check::match_sendgrid)),
    ("key-", "mailgun-key", Body(Hex, 32, 32)),
    ("-us", "mailchimp-key", Checked(check::match_mailchimp)),
    ("re_", "resend-key", Checked(check::match_resend)),
    ("xkeysib-", "brevo-key", Body(Url, 81, 81)),
    ("shpat_", "shopify-token", Body(Hex, 32, 32)),
    ("shpss_", "shopify-token", Body(Hex, 32, 32)),
    ("shpca_", "shopify-token", Body(Hex, 32, 32)),
    ("shppa_", "shopify-token", Body(Hex, 32, 32)),
    ("sq0csp-", "square-secret", Body(Url, 43, 43)),
    ("sq0atp-", "square-token", Body(Url, 22, 22)),
    ("EAA", "meta-or-square-token", Checked(check::meta_or_square)),
    ("access_token$production$", "braintree-token", Checked(check::match_braintree)),
    // Services.
    ("glsa_", "grafana-token", Body(Url, 40, 64)),
    ("glc_", "grafana-token", Body(Base64, 60, 512)),
    ("lin_api_", "linear-key", Body(Alnum, 32, 64)),
    ("ntn_", "notion-token", Body(Alnum, 40, 50)),
    ("secret_", "notion-token", Body(Alnum, 43, 43)),
    ("figd_", "figma-token", Body(Url, 36, 50)),
    ("pat", "airtable-token", Checked(check::match_airtable)),
    ("NRAK-", "new-relic-key", Body(Upper, 27, 27)),
    ("sntryu_", "sentry-token", Body(Hex, 64, 64)),
    ("sntrys_", "sentry-token", Body(Base64, 100, 1024)),
    ("CFPAT-", "contentful-token", Body(Url, 43, 43)),
    ("phx_", "posthog-key", Body(Alnum, 40, 64)),
    ("sl.", "dropbox-token", Body(Dotted, 130, 2048)),
    ("AGE-SECRET-KEY-1", "age-key", Body(Upper, 58, 58)),
    // Forms that need no provider.
    ("eyJ", "jwt", Checked(check::match_jwt)),
    ("-----BEGIN ", "private-key", Checked(check::private_key)),
    ("Private-Lines:", "private-key", Checked(check::putty_key)),
    ("Bearer ", "bearer-token", Checked(check::match_bearer)),
    ("SSWS ", "okta-token", Checked(check::match_okta)),
    ("Basic ", "basic-credentials", Checked(check::match_basic)),
    (" -u ", "basic-credentials", Checked(check::user_option)),
    ("--user ", "basic-credentials", Checked(check::user_option)),
    ("://", "password-in-url", Checked(check::url_password)),
];
