// A headless browser, of this machine or from the packages that are pinned.

/** Start it, with a folder for its profile. */
export async function launch(profile) {
  const { default: chromium } = await import("@sparticuz/chromium");
  const { launch } = await import("puppeteer-core");
  return launch({
    executablePath: await chromium.executablePath(),
    headless: "shell",
    userDataDir: profile,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--font-render-hinting=none",
    ],
  });
}
