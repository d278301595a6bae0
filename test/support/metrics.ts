import { operate } from "./client.ts";

/** The values of GET /admin/metrics, by name and labels as written there: `kiln_builds{state="queued"}`. */
export async function metricsNow(): Promise<Map<string, number>> {
  const text = await (await operate("GET", "/metrics")).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
