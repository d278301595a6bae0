import type { Build } from "#storage/builds";
import { Table } from "../../../parts/table.tsx";
import { counted } from "../../../parts/words.ts";
import { nameOf } from "./names.ts";
import type { Builds } from "./shown-builds.ts";

/** The services that start when the image boots, and their packages. Nothing if they are unknown. */
export const Services = ({ build, seen: { updates, services } }: { build: Build; seen: Builds }) => {
  if (updates?.build.id !== build.id || services.length === 0) return null;
  const count = services.reduce((sum, { units }) => sum + units.length, 0);
  return (
    <details class="use">
      <summary>{counted(count, "service starts", "services start")} at boot</summary>
      <Table label={`Services of ${nameOf(build)} that start at boot`} isCards columns={["Package", "Starts"]}>
        {services.map(({ name, units }) => (
          <tr>
            <th scope="row" class="breaks">
              {name}
            </th>
            <td data-label="Starts" class="breaks mono">
              {units.join(", ")}
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
};
