/** An amount with its currency. Without a currency, the amount is in minor units. */
export function inMoney(minor: number, currency: string | null): string {
  if (currency === null) return `${minor} minor units`;
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0));
}
