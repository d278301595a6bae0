import { CopyButton } from "./button.tsx";

interface CommandLineProps {
  /** The service's URL, if the sign-in is shown as well. Without it, the lines assume that the user is signed in. */
  baseUrl?: string;
  lines: readonly string[];
}

/** How to do the same with the command line, `kiln`. */
export const CommandLine = ({ baseUrl, lines }: CommandLineProps) => {
  const all = baseUrl === undefined ? lines : [`kiln login ${baseUrl}`, ...lines];
  return (
    <details class="command-line">
      <summary class="small-text quiet">The same with the command line</summary>
      <div class="stack-s">
        <pre class="code" tabindex={0} id="command-line">
          <code>{all.join("\n")}</code>
        </pre>
        <p class="row small-text">
          <CopyButton of="command-line" words="Copy" />
          <a href="/help#command-line-help">How to install it</a>
        </p>
      </div>
    </details>
  );
};
