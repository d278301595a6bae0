// Runs before wrangler bundles the Worker ([build] in wrangler.toml). `wrangler deploy` by hand would skip the
// migrations, and without --env it would deploy the embedded mode to Cloudflare. `npm run deploy` sets KILN_DEPLOY.
const uploads = ["deploy", "versions upload"];

if (uploads.includes(process.env.WRANGLER_COMMAND ?? "") && !process.env.KILN_DEPLOY) {
  console.error("kiln: use npm run deploy. It migrates the database before the code, and names the environment.");
  process.exit(1);
}
