export function prepareNpmPackages(root?: string): Promise<void>;
export function isInstalled(root: string): boolean;
