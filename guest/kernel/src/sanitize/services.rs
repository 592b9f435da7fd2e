//! Words before secrets: those that forms of `secrets/forms.rs` begin with, and names of services.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

/// The words that some forms begin with.
pub(super) const WORDS: &str = "\
    age aio api authress ccipat dckr discord discordapp doo dop dor dp dt0c01 duffel ext figd fio flwpubk \
    flwseck fm1a fm1r fm2 fo1 gho ghp ghr ghs ghu github glagent glc glcbt gldt glffct glft glimt gloas \
    glpat glptt glrt glsa glsoat gocspx gsk hf hooks hrku hvb hvs ico key lin lsv2 npm nrak nrii ntn ops \
    p8e pat pmak pnu pplx pscale pul pypi r8 rdme rk rubygems s sat sbp scauth secret sg sgp sha256 \
    shippo shpat shpca shppa shpss sk sl sm sntrys sntryu sq0atp sq0csp tk tskey v1 whsec xai xapp \
    xkeysib xoxa xoxb xoxe xoxo xoxp xoxr xoxs ya29";

/// The names of services, alone and with what ends the name of a secret.
pub(super) const SERVICES: &str = "\
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
