/** What a layout is asked for, and what it answers. */
export const NODE_WIDTH_PX = 176;
export const NODE_HEIGHT_PX = 44;

export interface GraphShape {
  readonly ids: readonly string[];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

export interface NodePlace {
  readonly id: string;
  /** Of the left upper corner. */
  readonly x: number;
  readonly y: number;
}
