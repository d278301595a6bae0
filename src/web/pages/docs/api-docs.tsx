import { shown } from "#api/errors";
import { Refusal, refusalCodes } from "#domain/refusal";
import { openApiDocument } from "#openapi/document";
import { groups } from "#api/groups";
import type { Group } from "#api/operation";
import { Call, errorAnchor, Words } from "./call.tsx";
import { factory } from "../../factory.ts";
import { page } from "../../page.tsx";

/** The description of the API, as OpenAPI and as a page. Both come from the same table. */
export const apiDocs = factory
  .createApp()
  .get("/api/openapi.json", (c) => c.json(openApiDocument(c.var.baseUrl)))
  .get("/api/docs", (c) => page(c, <ApiDocs baseUrl={c.var.baseUrl} />, { title: "The API", section: "api" }));

const ApiDocs = ({ baseUrl }: { baseUrl: string }) => (
  <div class="handbook">
    <nav aria-label="Calls">
      <ol>
        <li>
          <a href="#begin">Getting started</a>
        </li>
        {groups.map((group) => (
          <GroupLinks group={group} />
        ))}
        <li>
          <a href="#errors">Errors</a>
        </li>
      </ol>
    </nav>
    <div class="calls">
      <Beginning baseUrl={baseUrl} />
      {groups.map((group) => (
        <section id={anchorOf(group)}>
          <h2>{group.title}</h2>
          <p class="lead">
            <Words of={group.about} />
          </p>
          {group.operations.map((operation) => (
            <Call operation={operation} />
          ))}
        </section>
      ))}
      <Errors />
    </div>
  </div>
);

const GroupLinks = ({ group }: { group: Group }) => (
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
);

const anchorOf = ({ title }: Group): string => title.toLowerCase().replaceAll(" ", "-");

const Beginning = ({ baseUrl }: { baseUrl: string }) => (
  <section id="begin">
    <h1>The API</h1>
    <p class="lead">
      Everything that Kiln does is available through these calls. They are the API of the appliance build service that
      closed in 2018, in both of its versions. A call with a version mark exists only in that version.
    </p>
    <p>
      Sign in with your account name and <a href="/user/show_api_key">your API key</a>. Every path follows{" "}
      <code>{baseUrl}/api/v2/user</code>, or <code>v1</code>.
    </p>
    <pre tabindex={0}>
      <code>{`curl -u NAME:KEY ${baseUrl}/api/v2/user/appliances`}</code>
    </pre>
    <p>
      Send parameters in the query string, a form, multipart fields or a JSON object. An empty value counts as absent.
      Answers are XML, or JSON with <code>Accept: application/json</code>. The same description is also available as{" "}
      <a href="/api/openapi.json">OpenAPI</a>.
    </p>
  </section>
);

const Errors = () => (
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
        {refusalCodes.map((code) => (
          <ErrorRow refusal={new Refusal(code)} />
        ))}
      </tbody>
    </table>
  </section>
);

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
