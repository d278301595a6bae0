import { raw } from "hono/html";
import { kiln } from "../../drawing/kiln.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Search } from "../../parts/search.tsx";

/** Introduces Kiln, and has the search. */
export const Hero = () => (
  <section class="hero" aria-labelledby="hero">
    <div>
      <h1 id="hero">Appliances, baked to order</h1>
      <p class="lead">
        Clone a working Linux system, choose its packages, build a bootable image, and try it in your browser.
      </p>
      <Search action="/gallery" label="Search the gallery" placeholder="kiosk, rescue …" button="Search" look="large" />
      <p class="row start">
        <ButtonLink look="large" icon="plus" href="/appliances/new">
          Make an appliance
        </ButtonLink>
        <a href="/help">How it works</a>
      </p>
    </div>
    {raw(kiln)}
  </section>
);

/** Shows visitors how to call the API from a shell. */
export const FromAShell = ({ baseUrl }: { baseUrl: string }) => (
  <section class="stack section-head narrow" aria-labelledby="shell">
    <h2 id="shell">From a shell</h2>
    <p>
      Everything here is also a call of one REST API, in XML or JSON. Sign in with your account name and{" "}
      <a href="/user/show_api_key">your API key</a>.
    </p>
    <pre class="panel wraps" tabindex={0}>
      <code>{`curl -u NAME:KEY ${baseUrl}/api/v2/user/appliances`}</code>
    </pre>
    <p>
      <a href="/api/docs">All calls of the API</a>, also as <a href="/api/openapi.json">OpenAPI</a>
    </p>
  </section>
);
