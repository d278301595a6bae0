import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { shown } from "#api/errors";
import { Refusal, refusalCodes } from "#domain/refusal";
import { openApiDocument } from "#openapi/document";
import { groups } from "#api/groups";
import type { Group } from "#api/operation";
import { docsOf, docsPath, errorAnchor } from "./addresses.ts";
import { Call, CurlLine, Words } from "./call.tsx";
import { CallList } from "./call-list.tsx";
import { curlLine, type Reader } from "./curl.ts";
import { memoizedHtml } from "./memoized-html.ts";
import { latestIdsOf } from "#storage/appliance-overview";
import { factory, type WebEnv } from "../../factory.ts";
import { notFoundPage } from "../../error-page.tsx";
import { Icon } from "../../parts/icon.tsx";
import { personOf } from "../../session.ts";
import { page } from "../../page.tsx";

/**
 * The description of the API, as OpenAPI and as pages: a page of all calls and errors, and one for each group of calls.
 */
export const apiDocs = factory
  .createApp()
  .get("/api/openapi.json", (c) => c.json(openApiDocument(c.var.baseUrl)))
  .get(docsPath, async (c) => {
    const search = (c.req.query("q") ?? "").trim().slice(0, 100);
    const content = (
      <Handbook>
        <Beginning baseUrl={c.var.baseUrl} reader={await readerOf(c)} />
        <CallList search={search} />
        {errors(refusalCodes)}
      </Handbook>
    );
    return await page(c, content, { title: "The API", section: "api", style: "handbook.css" });
  })
  .get(`${docsPath}/:group`, async (c) => {
    const group = groups.find((one) => docsOf(one) === `${docsPath}/${c.req.param("group")}`);
    if (!group) return await notFoundPage(c);
    const content = (
      <Handbook shown={group}>
        <CallsOf group={group} baseUrl={c.var.baseUrl} reader={await readerOf(c)} />
      </Handbook>
    );
    return await page(c, content, { title: `${group.title} · The API`, section: "api", style: "handbook.css" });
  });

/** The newest appliance of the signed-in person, and its last build. */
async function readerOf(c: Context<WebEnv>): Promise<Reader> {
  const person = await personOf(c);
  if (!person) return { username: undefined, applianceId: null, buildId: null };
  return { username: person.account.username, ...(await latestIdsOf(c.var.db, person.account.id)) };
}

const Handbook = ({ shown, children }: { shown?: Group; children: Child }) => (
  <div class="handbook">
    <nav aria-label="Calls">
      <ol>
        <li>
          <a href={`${docsPath}#begin`}>Getting started</a>
        </li>
        <li>
          <a href={`${docsPath}#calls`}>All calls</a>
        </li>
        {groups.map((group) => (
          <GroupLinks group={group} isShown={group === shown} />
        ))}
        <li>
          <a href={`${docsPath}#errors`}>Errors</a>
        </li>
      </ol>
    </nav>
    <div class="calls">{children}</div>
    <a class="button to-index" href={`${docsPath}#calls`}>
      <Icon name="menu" /> All calls
    </a>
  </div>
);

const GroupLinks = ({ group, isShown }: { group: Group; isShown: boolean }) => (
  <li>
    <a href={docsOf(group)} aria-current={isShown ? "page" : undefined}>
      {group.title}
    </a>
    {isShown && (
      <ol>
        {group.operations
          .filter(({ deprecated }) => !deprecated)
          .map(({ name, summary }) => (
            <li>
              <a href={`#${name}`}>{summary}</a>
            </li>
          ))}
      </ol>
    )}
  </li>
);

const CallsOf = ({ group, baseUrl, reader }: { group: Group; baseUrl: string; reader: Reader }) => (
  <section>
    <h1>{group.title}</h1>
    <p class="lead">
      <Words of={group.about} />
    </p>
    {group.operations.map((operation) => (
      <Call operation={operation} line={curlLine(operation, baseUrl, reader)} />
    ))}
  </section>
);

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
