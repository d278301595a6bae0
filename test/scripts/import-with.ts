import { vi } from "vitest";

/**
 * Imports a module whose imports are replaced. The test files of this project share their modules, so `vi.mock` has no
 * effect on a module that another file has loaded.
 *
 * @param replaced paths as in an import of this folder
 */
export async function importWith<T>(load: () => Promise<T>, replaced: Record<string, () => object>): Promise<T> {
  vi.resetModules();
  for (const [path, make] of Object.entries(replaced)) vi.doMock(path, make);
  try {
    return await load();
  } finally {
    for (const path of Object.keys(replaced)) vi.doUnmock(path);
    vi.resetModules();
  }
}
