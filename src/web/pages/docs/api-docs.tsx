import type { Context } from "hono";
import { shown } from "#api/errors";
import { Refusal, refusalCodes } from "#domain/refusal";
import { openApiDocument } from "#openapi/document";
import { groups } from "#api/groups";
import type { Group } from "#api/operation";
import { Call, CurlLine, errorAnchor, Words } from "./call.tsx";
import { CallList } from "./call-list.tsx";
import { curlLine, type Reader } from "./curl.ts";
import { memoizedHtml } from "./memoized-html.ts";
import { latestIdsOf } from "#storage/appliance-overview";
import { factory, type WebEnv } from "../../factory.ts";
import { Icon } from "../../parts/icon.tsx";
import { personOf } from "../../session.ts";
import { page } from "../../page.tsx";

/** The description of the API, as OpenAPI and as a page. Both come from the same table. */
export const apiDocs = factory
  .createApp()
  .get("/api/openapi.json", (c) => c.json(openApiDocument(c.var.baseUrl)))
  .get("/api/docs", async (c) => {
    const search = (c.req.query("q") ?? "").trim().slice(0, 100);
    const content = <ApiDocs baseUrl={c.var.baseUrl} reader={await readerOf(c)} search={search} />;
    return await page(c, content, { title: "The API", section: "api", style: "handbook.css" });
  });

/** The newest appliance of the signed-in person, and its last build. */
async function readerOf(c: Context<WebEnv>): Promise<Reader> {
  const person = await personOf(c);
  if (!person) return { username: undefined, applianceId: null, buildId: null };
  return { username: person.account.username, ...(await latestIdsOf(c.var.db, person.account.id)) };
}

interface ApiDocsProps {
  baseUrl: string;
  reader: Reader;
  search: string;
}

const ApiDocs = ({ baseUrl, reader, search }: ApiDocsProps) => (
  <div class="handbook">
    <nav aria-label="Calls">
      <ol>
        <li>
          <a href="#begin">Getting started</a>
        </li>
        <li>
          <a href="#calls">All calls</a>
        </li>
        {groups.map((group) => groupLinks(group))}
        <li>
          <a href="#errors">Errors</a>
        </li>
      </ol>
    </nav>
    <div class="calls">
      <Beginning baseUrl={baseUrl} reader={reader} />
      <CallList search={search} />
      {groups.map((group) => (
        <section id={anchorOf(group)}>
          <h2>{group.title}</h2>
          <p class="lead">
            <Words of={group.about} />
          </p>
          {group.operations.map((operation) => (
            <Call operation={operation} line={curlLine(operation, baseUrl, reader)} />
          ))}
        </section>
      ))}
      {errors(refusalCodes)}
    </div>
    <a class="button to-index" href="#calls">
      <Icon name="menu" /> All calls
    </a>
  </div>
);

const groupLinks = memoizedHtml((group: Group) => (
  <li>
    <a href={`#${anchorOf(group)}`}>{group.title}</a>
    <ol>
      {group.operations
        .filter(({ deprecated }) => !deprecated)
        .map(({ name, summary }) => (
          <li>
            <a href={`#${name}`}>{summary}</a>
          </li>
        ))}
    </ol>
  </li>
));

const anchorOf = ({ title }: Group): string => title.toLowerCase().replaceAll(" ", "-");

const Beginning = ({ baseUrl, reader }: { baseUrl: string; reader: Reader }) => (
  <section id="begin">
    <h1>The API</h1>
    <p class="lead">
      Everything that Kiln does is available through these calls. They are the API of the appliance build service that
      closed in 2018, in both of its versions. A call with a version mark exists only in that version.
    </p>
    <p>
      Sign in with your account name and <a href="/account">your API key</a>. Every path follows{" "}
      <code>{baseUrl}/api/v2/user</code>, or <code>v1</code>.
    </p>
    <CurlLine id="curl-begin" line={`curl -u ${reader.username ?? "NAME"}:KEY ${baseUrl}/api/v2/user/appliances`} />
    <p>
      Send parameters in the query string, a form, multipart fields or a JSON object. An empty value counts as absent.
      Answers are XML, or JSON with <code>Accept: application/json</code>. The same description is also available as{" "}
      <a href="/api/openapi.json">OpenAPI</a>.
    </p>
  </section>
);

const errors = memoizedHtml((codes: typeof refusalCodes) => (
  <section id="errors">
    <h2>Errors</h2>
    <p class="lead">
      A refused request changes nothing. The answer has a code for programs and a message for people. An unknown id in a
      path returns 404 on v2 and 400 on v1.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Status</th>
          <th scope="col">Usual message</th>
        </tr>
      </thead>
      <tbody>
        {codes.map((code) => (
          <ErrorRow refusal={new Refusal(code)} />
        ))}
      </tbody>
    </table>
  </section>
));

const ErrorRow = ({ refusal }: { refusal: Refusal }) => {
  const { code, status, message } = shown(refusal);
  return (
    <tr id={errorAnchor(code)}>
      <th scope="row">
        <code>{code}</code>
      </th>
      <td>{status}</td>
      <td>{message}</td>
    </tr>
  );
};
