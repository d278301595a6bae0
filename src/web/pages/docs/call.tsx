import { xmlExample } from "#lib/wire/example";
import { scopeOf, type Answer, type Body, type Operation } from "#api/operation";
import { parametersOf, type Parameter } from "#openapi/parameters";
import { possibleRefusals } from "#openapi/refusals";
import { CopyButton } from "../../parts/button.tsx";
import { docsPath, errorAnchor } from "./addresses.ts";
import { memoizedHtml } from "./memoized-html.ts";

/** Text in which backticks mark code, as in Markdown. */
export const Words = ({ of: text }: { of: string }) => (
  <>{text.split("`").map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</>
);

/** One API call: a line to try it, its parameters, body, answer and errors. */
export const Call = ({ operation, line }: { operation: Operation; line: string }) => (
  <article id={operation.name}>
    {aboveLine(operation)}
    <CurlLine id={`curl-${operation.name}`} line={line} />
    {belowLine(operation)}
  </article>
);

const aboveLine = memoizedHtml((operation: Operation) => {
  const { name, summary, details, versions } = operation;
  return (
    <>
      <h2>
        <a class="anchor" href={`#${name}`}>
          {summary}
        </a>
        {versions.length === 1 && <span class="badge">{versions[0]} only</span>}
      </h2>
      <Route operation={operation} />
      <ScopeOf operation={operation} />
      {details && (
        <p>
          <Words of={details} />
        </p>
      )}
    </>
  );
});

const belowLine = memoizedHtml((operation: Operation) => {
  if (operation.deprecated) return <p class="quiet">The same as the call above, for old clients.</p>;
  const parameters = parametersOf(operation);
  return (
    <>
      {parameters.length > 0 && <Parameters parameters={parameters} />}
      {operation.body && <RequestBody body={operation.body} />}
      <AnswerOf answer={operation.answer} />
      <Refusals operation={operation} />
    </>
  );
});

/** A shell command to copy. */
export const CurlLine = ({ id, line }: { id: string; line: string }) => (
  <div class="curl">
    <pre tabindex={0}>
      <code id={id}>{line}</code>
    </pre>
    <CopyButton of={id} words="Copy" />
  </div>
);

const Route = ({ operation: { method, path } }: { operation: Operation }) => (
  <p class="route">
    <code>
      <b class={method.toLowerCase()}>{method}</b> {path}
    </code>
  </p>
);

const ScopeOf = ({ operation }: { operation: Operation }) => {
  const needed = scopeOf(operation);
  return (
    <p>
      <span class="label">Token</span> {needed === "key" ? "none: needs the API key" : <code>{needed}</code>}
    </p>
  );
};

const Parameters = ({ parameters }: { parameters: readonly Parameter[] }) => (
  <table>
    <caption class="hidden">Parameters</caption>
    <tbody>
      {parameters.map(({ name, place, isRequired, meaning }) => (
        <tr>
          <th scope="row">
            <code>{name}</code>
            {isRequired && place !== "path" && <span class="badge">required</span>}
            {place === "header" && <span class="badge">header</span>}
          </th>
          <td>
            <Words of={meaning} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const RequestBody = ({ body }: { body: Body }) => {
  switch (body.kind) {
    case "document":
      return <Example title="Body" document={xmlExample(body.document, "v2")} />;
    case "file":
      return (
        <p>
          <span class="label">Body</span> {body.what} As the field <code>file</code> of a form, or as the whole body.
        </p>
      );
    case "bytes":
    case "text":
      return (
        <p>
          <span class="label">Body</span> {body.what}
        </p>
      );
    default:
      return body satisfies never;
  }
};

const AnswerOf = ({ answer }: { answer: Answer }) => {
  if (answer.kind === "document") return <Example title="Answer" document={xmlExample(answer.document, "v2")} />;
  return (
    <p>
      <span class="label">Answer</span> {answer.what} {answer.kind === "file" && <code>{answer.types.join(", ")}</code>}
    </p>
  );
};

/** Long documents are collapsed. */
const Example = ({ title, document }: { title: string; document: string }) => (
  <details open={document.split("\n").length <= 8}>
    <summary>{title}</summary>
    <pre tabindex={0}>
      <code>{document.trimEnd()}</code>
    </pre>
  </details>
);

const Refusals = ({ operation }: { operation: Operation }) => {
  // Errors that every call can return are only in the table of errors.
  const own = possibleRefusals(operation, "v2").filter(
    ({ code, status }) => status !== 401 && code !== "internal_error",
  );
  if (own.length === 0) return null;
  return (
    <p class="refusals">
      <span class="label">Errors</span>
      {own.map(({ code, status }) => (
        <a href={`${docsPath}#${errorAnchor(code)}`}>
          <code>
            {status} {code}
          </code>
        </a>
      ))}
    </p>
  );
};
