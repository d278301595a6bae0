import type { Metric } from "#domain/operation/metrics";

export const prometheusType = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics in Prometheus' text format. */
export const prometheusText = (metrics: readonly Metric[]): string => metrics.map(textOf).join("");

function textOf({ name, help, type, samples }: Metric): string {
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
