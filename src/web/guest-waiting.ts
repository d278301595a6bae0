import { html } from "hono/html";

const style = `:root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; max-width: 34rem; margin: auto; padding: 1rem; text-align: center; }`;

/** The page while a guest does not answer yet. It uses none of our files, because this origin belongs to the guest. */
export const waitingPage = (reason: string): string =>
  String(
    html`<!DOCTYPE html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta http-equiv="refresh" content="3" />
          <title>Waiting for the machine</title>
          <style>
            ${style}
          </style>
        </head>
        <body>
          <main>
            <h1>Waiting for the machine</h1>
            <p>${reason}</p>
            <p>This page tries again every 3 seconds.</p>
          </main>
        </body>
      </html>`,
  );
