const steps = [1, 2, 2.5, 5, 10];
const ticksMax = 4;

/** Round numbers from zero to at least `max`. Counts are whole, so no step is smaller than one. */
export function axisTicks(max: number): number[] {
  const raw = max / ticksMax;
  const power = 10 ** Math.max(0, Math.floor(Math.log10(raw)));
  const step = (steps.find((one) => one * power >= raw && Number.isInteger(one * power)) ?? 10) * power;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, nth) => nth * step);
}
