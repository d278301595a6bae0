import { factory } from "../factory.ts";
import { Column } from "../parts/column.tsx";
import { page } from "../page.tsx";
import { assetsOf } from "../assets.ts";

export const front = factory
  .createApp()
  .get("/", (c) =>
    page(c, <Front baseUrl={c.var.baseUrl} />, { title: "Appliances, baked to order", section: "gallery" }),
  )
  // Browsers request this name regardless of the page.
  .get("/favicon.ico", async (c) => c.redirect((await assetsOf(c.env.ASSETS)).url("kiln.svg")));

const Front = ({ baseUrl }: { baseUrl: string }) => (
  <Column>
    <h1>Appliances, baked to order</h1>
    <p class="lead">
      Kiln builds bootable system images. Clone a template, choose its software, and build the image with KIWI NG. Then
      download it or boot it in your browser.
    </p>
    <p>
      <a class="button primary" href="/user/show_api_key">
        Your API key
      </a>
    </p>
    <h2>From a shell</h2>
    <p>Kiln has one REST API, in XML or JSON. Sign in with your account name and your API key.</p>
    <pre tabindex={0}>
      <code>{shellExample(`${baseUrl}/api/v2/user`)}</code>
    </pre>
    <h2>The main calls</h2>
    <table class="table">
      <caption class="hidden">Calls of the API, below {baseUrl}/api/v2/user</caption>
      <tbody>
        {mainCalls.map(([call, what]) => (
          <tr>
            <th scope="row">
              <code>{call}</code>
            </th>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <p class="quiet">
      <a href="/api/docs">All calls of the API</a>, also as <a href="/api/openapi.json">OpenAPI</a>.
    </p>
  </Column>
);

const shellExample = (api: string) => `api=${api}
curl -u NAME:KEY $api/template_sets
curl -u NAME:KEY -d clone_from=1 -d arch=x86_64 $api/appliances
curl -u NAME:KEY -d appliance_id=1000 -d image_type=oem $api/running_builds
curl -u NAME:KEY -d build_id=1 $api/testdrives`;

const mainCalls = [
  ["GET /template_sets", "templates to start from"],
  ["POST /appliances?clone_from=", "create your own appliance"],
  ["POST /appliances/ID/cmd/add_package?name=", "choose its software"],
  ["GET /appliances/ID/status", "see whether it can be built"],
  ["POST /running_builds?appliance_id=", "build it"],
  ["GET /builds?appliance_id=", "get the download URLs of its builds"],
  ["POST /testdrives?build_id=", "boot it in the browser"],
] as const;
