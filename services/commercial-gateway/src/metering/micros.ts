/** Quantities are counted in millionths of the unit of their meter. */
export const microsPerUnit = 1_000_000n;

const quantityDigits = 6;

/** Returns the quantity in units as the shortest decimal string: 1500000 is `1.5`. */
export function decimalOfMicros(micros: bigint): string {
  const whole = micros / microsPerUnit;
  const fraction = String(micros % microsPerUnit)
    .padStart(quantityDigits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(whole) : `${whole}.${fraction}`;
}
