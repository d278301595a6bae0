interface ImportMeta {
  glob(pattern: string, options: { query: "?raw"; import: "default"; eager: true }): Record<string, string>;
  glob(pattern: string, options: { eager: true }): Record<string, object>;
}
