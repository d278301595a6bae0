import type { Child } from "hono/jsx";

interface LayoutProps {
  title: string;
  style: string;
  icon: string;
  script?: string | undefined;
  look: string;
  children: Child;
}

/** The frame of every page. */
export const Layout = ({ title, style, icon, script, look, children }: LayoutProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="dark" />
      <title>{`${title} · Kiln`}</title>
      <link rel="icon" type="image/svg+xml" href={icon} />
      <link rel="stylesheet" href={style} />
      {script && <script type="module" src={script}></script>}
    </head>
    <body class={look}>{children}</body>
  </html>
);

/** The name of the service, and the way home. */
export const Brand = () => (
  <a class="brand" href="/" aria-label="Kiln, front page">
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path class="dome" d="M4 28V15a12 12 0 0 1 24 0v13z" />
      <path
        class="fire"
        d="M16 10c1 4 5 5.500 5 10a5 5 0 0 1-10 0c0-2.500 1.200-3.600 2.200-5 .5 1.200 1 1.800 1.800 2.200C14.800 14.500 15 12 16 10z"
      />
    </svg>
    <span>Kiln</span>
  </a>
);

/** A page of text: a narrow column under the name. */
export const Column = ({ children }: { children: Child }) => (
  <div class="column">
    <header>
      <Brand />
    </header>
    <main>{children}</main>
  </div>
);

export const ErrorPage = ({ title = "This is not possible", message }: { title?: string; message: string }) => (
  <Column>
    <h1>{title}</h1>
    <p>{message}</p>
    <p>
      <a href="/">To the front page</a>
    </p>
  </Column>
);
