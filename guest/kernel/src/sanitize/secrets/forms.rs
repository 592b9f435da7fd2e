//! The forms of secrets: those of gitleaks (b58d3f102cf3, MIT), and some more.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

use super::{super::types::Secret, ANY, Form, Of, form};

/// In the order of their first bytes.
#[rustfmt::skip]
pub(super) static FORMS: &[Form] = &[
    form(Secret::ServiceToken, "4b1d", Of::Letters, 38, ANY),
    form(Secret::ServiceToken, "AGE-SECRET-KEY-1", Of::Letters, 58, 58),
    form(Secret::ServiceToken, "ATATT3", Of::Base64, 64, ANY),
    form(Secret::AwsKey, "ABIA", Of::Capitals, 16, 16),
    form(Secret::AwsKey, "ABSK", Of::Base64, 109, ANY),
    form(Secret::AwsKey, "ACCA", Of::Capitals, 16, 16),
    form(Secret::GcpKey, "AIza", Of::Url, 35, ANY),
    form(Secret::ServiceToken, "AKCp", Of::Letters, 64, ANY),
    form(Secret::AwsKey, "AKIA", Of::Capitals, 16, 16),
    form(Secret::ServiceToken, "API-", Of::Capitals, 26, ANY),
    form(Secret::AwsKey, "ASIA", Of::Capitals, 16, 16),
    form(Secret::ServiceToken, "ATBB", Of::Letters, 28, ANY),
    form(Secret::AwsKey, "A3T", Of::Capitals, 17, ANY),
    form(Secret::ServiceToken, "CCIPAT_", Of::Url, 40, ANY),
    form(Secret::ServiceToken, "CLOJAR", Of::Url, 62, ANY),
    form(Secret::ServiceToken, "DOR_V1_", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "EYJRIJ", Of::Base64, 64, ANY),
    form(Secret::ServiceToken, "EAAA", Of::Url, 22, ANY),
    form(Secret::ServiceToken, "EAAC", Of::Letters, 64, ANY),
    form(Secret::ServiceToken, "EAAM", Of::Letters, 64, ANY),
    form(Secret::ServiceToken, "EZAK", Of::Letters, 54, ANY),
    form(Secret::ServiceToken, "EZTK", Of::Letters, 54, ANY),
    form(Secret::ServiceToken, "FLWPUBK_TEST-", Of::Url, 34, ANY),
    form(Secret::ServiceToken, "FLWSECK_TEST-", Of::Url, 34, ANY),
    form(Secret::GitlabToken, "GR1348941", Of::Url, 20, ANY),
    form(Secret::GcpKey, "GOCSPX-", Of::Url, 28, ANY),
    form(Secret::ServiceToken, "GLSA_", Of::Url, 41, ANY),
    form(Secret::ServiceToken, "GLC_", Of::Base64, 32, ANY),
    form(Secret::ServiceToken, "HRKU-AA", Of::Url, 58, ANY),
    form(Secret::ServiceToken, "HVS.", Of::Url, 22, ANY),
    form(Secret::ServiceToken, "LTAI", Of::Letters, 20, ANY),
    form(Secret::ServiceToken, "NRAK-", Of::Letters, 27, ANY),
    form(Secret::ServiceToken, "NRII-", Of::Url, 32, ANY),
    form(Secret::ServiceToken, "NPM_", Of::Letters, 36, ANY),
    form(Secret::ServiceToken, "PSCALE_", Of::Base64, 35, ANY),
    form(Secret::ServiceToken, "PMAK-", Of::Url, 40, ANY),
    form(Secret::ServiceToken, "SGP_", Of::Url, 36, ANY),
    form(Secret::ServiceToken, "SG.", Of::Dotted, 64, ANY),
    form(Secret::ServiceToken, "SK", Of::Hex, 32, 32),
    form(Secret::SlackToken, "XOXE-", Of::Url, 64, ANY),
    form(Secret::GitlabToken, "_gitlab_session=", Of::Letters, 32, ANY),
    form(Secret::ServiceToken, "authress_", Of::Base64, 50, ANY),
    form(Secret::ServiceToken, "api_org_", Of::Letters, 34, ANY),
    form(Secret::ServiceToken, "atatt3", Of::Base64, 64, ANY),
    form(Secret::ServiceToken, "aio_", Of::Letters, 28, ANY),
    form(Secret::ServiceToken, "clojar", Of::Url, 62, ANY),
    form(Secret::ServiceToken, "cmVmd", Of::Letters, 59, ANY),
    form(Secret::ServiceToken, "cio", Of::Letters, 32, 32),
    form(Secret::ServiceToken, "discordapp.com/api/webhooks/", Of::Base64, 60, ANY),
    form(Secret::ServiceToken, "discord.com/api/webhooks/", Of::Base64, 60, ANY),
    form(Secret::ServiceToken, "duffel_live_", Of::Base64, 43, ANY),
    form(Secret::ServiceToken, "duffel_test_", Of::Base64, 43, ANY),
    form(Secret::ServiceToken, "dckr_pat_", Of::Url, 20, ANY),
    form(Secret::ServiceToken, "doo_v1_", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "dop_v1_", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "dor_v1_", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "dt0c01.", Of::Dotted, 64, ANY),
    form(Secret::ServiceToken, "dp.pt.", Of::Letters, 43, ANY),
    form(Secret::ServiceToken, "dapi", Of::Hex, 32, 32),
    form(Secret::ServiceToken, "eyJrIjoi", Of::Letters, 64, ANY),
    form(Secret::ServiceToken, "eyjrij", Of::Base64, 64, ANY),
    form(Secret::ServiceToken, "ext_", Of::Base64, 55, ANY),
    form(Secret::ServiceToken, "fio-u-", Of::Base64, 64, ANY),
    form(Secret::ServiceToken, "figd_", Of::Url, 32, ANY),
    form(Secret::ServiceToken, "fm1a_", Of::Base64, 42, ANY),
    form(Secret::ServiceToken, "fm1r_", Of::Base64, 42, ANY),
    form(Secret::ServiceToken, "fm2_", Of::Base64, 43, ANY),
    form(Secret::ServiceToken, "fo1_", Of::Url, 43, ANY),
    form(Secret::GithubToken, "github_pat_", Of::Url, 60, ANY),
    form(Secret::GitlabToken, "glagent-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glffct-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glsoat-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glcbt-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glimt-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "gloas-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glpat-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glptt-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glrt-t", Of::Dotted, 39, ANY),
    form(Secret::GitlabToken, "gldt-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glft-", Of::Dotted, 20, ANY),
    form(Secret::GitlabToken, "glrt-", Of::Dotted, 20, ANY),
    form(Secret::ServiceToken, "glsa_", Of::Url, 41, ANY),
    form(Secret::GithubToken, "gho_", Of::Letters, 36, ANY),
    form(Secret::GithubToken, "ghp_", Of::Letters, 36, ANY),
    form(Secret::GithubToken, "ghr_", Of::Letters, 36, ANY),
    form(Secret::GithubToken, "ghs_", Of::Letters, 36, ANY),
    form(Secret::GithubToken, "ghu_", Of::Letters, 36, ANY),
    form(Secret::ServiceToken, "glc_", Of::Base64, 32, ANY),
    form(Secret::ServiceToken, "gsk_", Of::Letters, 40, ANY),
    form(Secret::SlackToken, "hooks.slack.com/workflows/", Of::Base64, 20, ANY),
    form(Secret::SlackToken, "hooks.slack.com/services/", Of::Base64, 20, ANY),
    form(Secret::SlackToken, "hooks.slack.com/triggers/", Of::Base64, 20, ANY),
    form(Secret::ServiceToken, "hvb.", Of::Url, 24, ANY),
    form(Secret::ServiceToken, "hvs.", Of::Url, 24, ANY),
    form(Secret::ServiceToken, "hf_", Of::Letters, 34, ANY),
    form(Secret::ServiceToken, "ico-", Of::Letters, 32, ANY),
    form(Secret::ServiceToken, "key-", Of::Hex, 32, 32),
    form(Secret::ServiceToken, "lin_api_", Of::Letters, 32, ANY),
    form(Secret::ServiceToken, "lsv2_pt_", Of::Url, 32, ANY),
    form(Secret::ServiceToken, "lsv2_sk_", Of::Url, 32, ANY),
    form(Secret::ServiceToken, "npm_", Of::Letters, 36, ANY),
    form(Secret::ServiceToken, "ntn_", Of::Letters, 40, ANY),
    form(Secret::ServiceToken, "ops_eyJ", Of::Base64, 64, ANY),
    form(Secret::ServiceToken, "pypi-AgEIcHlwaS5vcmc", Of::Url, 50, ANY),
    form(Secret::ServiceToken, "pscale_oauth_", Of::Base64, 32, ANY),
    form(Secret::ServiceToken, "pscale_tkn_", Of::Base64, 32, ANY),
    form(Secret::ServiceToken, "pypi-AgE", Of::Url, 50, ANY),
    form(Secret::ServiceToken, "pscale_", Of::Base64, 35, ANY),
    form(Secret::ServiceToken, "pplx-", Of::Letters, 40, ANY),
    form(Secret::ServiceToken, "p8e-", Of::Letters, 32, ANY),
    form(Secret::ServiceToken, "pat.", Of::Dotted, 64, ANY),
    form(Secret::ServiceToken, "pnu_", Of::Letters, 36, ANY),
    form(Secret::ServiceToken, "pul-", Of::Hex, 40, ANY),
    form(Secret::ServiceToken, "pat", Of::Dotted, 64, ANY),
    form(Secret::ServiceToken, "rubygems_", Of::Hex, 48, ANY),
    form(Secret::StripeKey, "rk_live_", Of::Letters, 16, ANY),
    form(Secret::StripeKey, "rk_prod_", Of::Letters, 16, ANY),
    form(Secret::StripeKey, "rk_test_", Of::Letters, 16, ANY),
    form(Secret::ServiceToken, "rdme_", Of::Letters, 64, ANY),
    form(Secret::ServiceToken, "r8_", Of::Letters, 37, ANY),
    form(Secret::AnthropicKey, "sk-ant-admin01-", Of::Url, 64, ANY),
    form(Secret::AnthropicKey, "sk-ant-api03-", Of::Url, 64, ANY),
    form(Secret::ServiceToken, "shippo_live_", Of::Hex, 40, ANY),
    form(Secret::ServiceToken, "shippo_test_", Of::Hex, 40, ANY),
    form(Secret::OpenaiKey, "sk-svcacct-", Of::Url, 32, ANY),
    form(Secret::ServiceToken, "s-s4t2af-", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "s-s4t2ud-", Of::Hex, 64, ANY),
    form(Secret::OpenaiKey, "sk-admin-", Of::Url, 32, ANY),
    form(Secret::OpenaiKey, "sk-or-v1-", Of::Hex, 32, ANY),
    form(Secret::OpenaiKey, "sk-proj-", Of::Url, 32, ANY),
    form(Secret::StripeKey, "sk_live_", Of::Letters, 16, ANY),
    form(Secret::StripeKey, "sk_prod_", Of::Letters, 16, ANY),
    form(Secret::StripeKey, "sk_test_", Of::Letters, 16, ANY),
    form(Secret::ServiceToken, "scauth_", Of::Base64, 52, ANY),
    form(Secret::ServiceToken, "secret_", Of::Letters, 43, ANY),
    form(Secret::ServiceToken, "sha256~", Of::Url, 43, ANY),
    form(Secret::AnthropicKey, "sk-ant-", Of::Url, 24, ANY),
    form(Secret::ServiceToken, "sm_aat_", Of::Letters, 16, ANY),
    form(Secret::ServiceToken, "sm_pat_", Of::Letters, 16, ANY),
    form(Secret::ServiceToken, "sm_sat_", Of::Letters, 16, ANY),
    form(Secret::ServiceToken, "sntrys_", Of::Base64, 40, ANY),
    form(Secret::ServiceToken, "sntryu_", Of::Hex, 64, ANY),
    form(Secret::ServiceToken, "sq0atp-", Of::Url, 22, ANY),
    form(Secret::ServiceToken, "sq0csp-", Of::Url, 40, ANY),
    form(Secret::ServiceToken, "shpat_", Of::Hex, 32, ANY),
    form(Secret::ServiceToken, "shpca_", Of::Hex, 32, ANY),
    form(Secret::ServiceToken, "shppa_", Of::Hex, 32, ANY),
    form(Secret::ServiceToken, "shpss_", Of::Hex, 32, ANY),
    form(Secret::ServiceToken, "sat.", Of::Dotted, 64, ANY),
    form(Secret::ServiceToken, "sbp_", Of::Hex, 40, ANY),
    form(Secret::ServiceToken, "sgp_", Of::Url, 36, ANY),
    form(Secret::OpenaiKey, "sk-", Of::Letters, 32, ANY),
    form(Secret::ServiceToken, "sl.", Of::Url, 100, ANY),
    form(Secret::ServiceToken, "tk-us-", Of::Url, 48, ANY),
    form(Secret::ServiceToken, "tskey-", Of::Url, 24, ANY),
    form(Secret::ServiceToken, "v1.0-", Of::Url, 64, ANY),
    form(Secret::StripeKey, "whsec_", Of::Letters, 24, ANY),
    form(Secret::SlackToken, "xoxe.xoxb-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxe.xoxp-", Of::Url, 16, ANY),
    form(Secret::ServiceToken, "xkeysib-", Of::Url, 64, ANY),
    form(Secret::SlackToken, "xapp-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxa-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxb-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxe-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxo-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxp-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxr-", Of::Url, 16, ANY),
    form(Secret::SlackToken, "xoxs-", Of::Url, 16, ANY),
    form(Secret::ServiceToken, "xai-", Of::Letters, 40, ANY),
    form(Secret::GcpKey, "ya29.", Of::Url, 20, ANY),
];

/// The words that some of them begin with.
pub(in super::super) const WORDS: &str = "\
    age aio api authress ccipat dckr discord discordapp doo dop dor dp dt0c01 duffel ext figd fio flwpubk \
    flwseck fm1a fm1r fm2 fo1 gho ghp ghr ghs ghu github glagent glc glcbt gldt glffct glft glimt gloas \
    glpat glptt glrt glsa glsoat gocspx gsk hf hooks hrku hvb hvs ico key lin lsv2 npm nrak nrii ntn ops \
    p8e pat pmak pnu pplx pscale pul pypi r8 rdme rk rubygems s sat sbp scauth secret sg sgp sha256 \
    shippo shpat shpca shppa shpss sk sl sm sntrys sntryu sq0atp sq0csp tk tskey v1 whsec xai xapp \
    xkeysib xoxa xoxb xoxe xoxo xoxp xoxr xoxs ya29";

/// Names of services, and how long a value after one is that is a secret of theirs, at least and at most.
#[rustfmt::skip]
pub(super) static NAMED: &[(&str, u8, u8)] = &[
    ("adafruit", 32, 32),
    ("adobe", 32, 32),
    ("airtable", 17, 17),
    ("algolia", 32, 32),
    ("alibaba", 30, 30),
    ("artifactory", 64, 73),
    ("asana", 16, 32),
    ("atatt3", 24, 24),
    ("atlassian", 24, 24),
    ("beamer", 46, 46),
    ("bintray", 64, 73),
    ("bitbucket", 32, 64),
    ("bittrex", 32, 32),
    ("cloudflare", 37, 40),
    ("codecov", 32, 32),
    ("cohere", 40, 40),
    ("coinbase", 64, 64),
    ("confluence", 24, 24),
    ("confluent", 16, 64),
    ("contentful", 43, 43),
    ("datadog", 40, 40),
    ("discord", 18, 64),
    ("dnkey", 85, 85),
    ("droneci", 32, 32),
    ("dropbox", 64, 138),
    ("etsy", 24, 24),
    ("facebook", 32, 32),
    ("fastly", 32, 32),
    ("finicity", 20, 32),
    ("finnhub", 20, 20),
    ("flickr", 32, 32),
    ("freshbooks", 64, 64),
    ("gitter", 40, 40),
    ("gocardless", 45, 45),
    ("heroku", 36, 36),
    ("hubspot", 36, 36),
    ("intercom", 60, 60),
    ("jfrog", 64, 73),
    ("jira", 24, 24),
    ("kraken", 80, 90),
    ("kucoin", 24, 36),
    ("launchdarkly", 40, 40),
    ("linear", 32, 32),
    ("linkedin", 16, 16),
    ("looker", 20, 24),
    ("mailchimp", 37, 37),
    ("mailgun", 36, 50),
    ("mapbox", 86, 86),
    ("mattermost", 26, 26),
    ("meraki", 40, 40),
    ("messagebird", 25, 36),
    ("netlify", 40, 46),
    ("newrelic", 64, 64),
    ("newyorktimes", 32, 32),
    ("nrak", 32, 32),
    ("nytimes", 32, 32),
    ("okta", 42, 42),
    ("plaid", 24, 55),
    ("privateai", 32, 32),
    ("rapidapi", 50, 50),
    ("sendbird", 36, 40),
    ("sentry", 64, 64),
    ("snyk", 36, 36),
    ("squarespace", 36, 36),
    ("sumo", 64, 64),
    ("telegr", 41, 52),
    ("travis", 22, 22),
    ("twitch", 30, 30),
    ("twitter", 25, 122),
    ("xray", 64, 73),
    ("yandex", 39, 42),
    ("zendesk", 40, 40),
];

/// The same names, alone and with what ends the name of a secret.
pub(in super::super) const SERVICES: &str = "\
    adafruit adafruittoken adafruitkey adafruitsecret adobe adobetoken adobekey adobesecret airtable \
    airtabletoken airtablekey airtablesecret algolia algoliatoken algoliakey algoliasecret alibaba \
    alibabatoken alibabakey alibabasecret artifactory artifactorytoken artifactorykey artifactorysecret \
    asana asanatoken asanakey asanasecret atatt3 atatt3token atatt3key atatt3secret atlassian \
    atlassiantoken atlassiankey atlassiansecret beamer beamertoken beamerkey beamersecret bintray \
    bintraytoken bintraykey bintraysecret bitbucket bitbuckettoken bitbucketkey bitbucketsecret bittrex \
    bittrextoken bittrexkey bittrexsecret cloudflare cloudflaretoken cloudflarekey cloudflaresecret \
    codecov codecovtoken codecovkey codecovsecret cohere coheretoken coherekey coheresecret coinbase \
    coinbasetoken coinbasekey coinbasesecret confluence confluencetoken confluencekey confluencesecret \
    confluent confluenttoken confluentkey confluentsecret contentful contentfultoken contentfulkey \
    contentfulsecret datadog datadogtoken datadogkey datadogsecret discord discordtoken discordkey \
    discordsecret dnkey dnkeytoken dnkeykey dnkeysecret droneci dronecitoken dronecikey dronecisecret \
    dropbox dropboxtoken dropboxkey dropboxsecret etsy etsytoken etsykey etsysecret facebook \
    facebooktoken facebookkey facebooksecret fastly fastlytoken fastlykey fastlysecret finicity \
    finicitytoken finicitykey finicitysecret finnhub finnhubtoken finnhubkey finnhubsecret flickr \
    flickrtoken flickrkey flickrsecret freshbooks freshbookstoken freshbookskey freshbookssecret gitter \
    gittertoken gitterkey gittersecret gocardless gocardlesstoken gocardlesskey gocardlesssecret heroku \
    herokutoken herokukey herokusecret hubspot hubspottoken hubspotkey hubspotsecret intercom \
    intercomtoken intercomkey intercomsecret jfrog jfrogtoken jfrogkey jfrogsecret jira jiratoken jirakey \
    jirasecret kraken krakentoken krakenkey krakensecret kucoin kucointoken kucoinkey kucoinsecret \
    launchdarkly launchdarklytoken launchdarklykey launchdarklysecret linear lineartoken linearkey \
    linearsecret linkedin linkedintoken linkedinkey linkedinsecret looker lookertoken lookerkey \
    lookersecret mailchimp mailchimptoken mailchimpkey mailchimpsecret mailgun mailguntoken mailgunkey \
    mailgunsecret mapbox mapboxtoken mapboxkey mapboxsecret mattermost mattermosttoken mattermostkey \
    mattermostsecret meraki merakitoken merakikey merakisecret messagebird messagebirdtoken \
    messagebirdkey messagebirdsecret netlify netlifytoken netlifykey netlifysecret newrelic newrelictoken \
    newrelickey newrelicsecret newyorktimes newyorktimestoken newyorktimeskey newyorktimessecret nrak \
    nraktoken nrakkey nraksecret nytimes nytimestoken nytimeskey nytimessecret okta oktatoken oktakey \
    oktasecret plaid plaidtoken plaidkey plaidsecret privateai privateaitoken privateaikey \
    privateaisecret rapidapi rapidapitoken rapidapikey rapidapisecret sendbird sendbirdtoken sendbirdkey \
    sendbirdsecret sentry sentrytoken sentrykey sentrysecret snyk snyktoken snykkey snyksecret \
    squarespace squarespacetoken squarespacekey squarespacesecret sumo sumotoken sumokey sumosecret \
    telegr telegrtoken telegrkey telegrsecret travis travistoken traviskey travissecret twitch \
    twitchtoken twitchkey twitchsecret twitter twittertoken twitterkey twittersecret xray xraytoken \
    xraykey xraysecret yandex yandextoken yandexkey yandexsecret zendesk zendesktoken zendeskkey \
    zendesksecret";
