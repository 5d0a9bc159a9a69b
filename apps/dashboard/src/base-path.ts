/** Where the board is mounted. Fixed when it is built: Next writes it into every asset's address. */
export const basePath: string = process.env.NEXT_PUBLIC_BASE_PATH ?? '';
