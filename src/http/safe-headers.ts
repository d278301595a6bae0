/**
 * What every answer has, files of the pages included, so that a browser does no harm that opens it as a page: answers hold files
 * and texts of users. Pages have a policy of their own. No referrer, because the URLs of downloads and testdrives are secrets; pages send
 * it to this service alone.
 */
export const safeHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
