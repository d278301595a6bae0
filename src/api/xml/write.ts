export * from "#xml/write";
