import type { Child } from "hono/jsx";

interface DocumentProps {
  title: string;
  look: string | undefined;
  refreshSeconds: number | undefined;
  assets: { url: (name: string) => string; scripts: readonly string[]; styles: readonly string[] };
  children: Child;
}

export const wholeTitle = (title: string): string => `${title} · Kiln`;

export const Document = ({ title, look, refreshSeconds, assets, children }: DocumentProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      {refreshSeconds !== undefined && (
        <noscript>
          <meta http-equiv="refresh" content={String(refreshSeconds)} />
        </noscript>
      )}
      <title>{wholeTitle(title)}</title>
      <link rel="icon" type="image/svg+xml" href={assets.url("kiln.svg")} />
      {assets.styles.map((style) => (
        <link rel="stylesheet" href={style} />
      ))}
      {assets.scripts.map((script) => (
        <script type="module" src={script}></script>
      ))}
    </head>
    <body class={look}>{children}</body>
  </html>
);
