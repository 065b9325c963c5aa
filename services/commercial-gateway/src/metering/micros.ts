/** Quantities are counted in millionths of the unit of their meter. */
export const microsPerUnit = 1_000_000n;
