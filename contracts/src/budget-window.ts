const hourMs = 3_600_000;

/**
 * When the window of a budget began, computed from its end. `null` when the window never resets. Months are calendar
 * months in UTC.
 */
export function windowStartMs({ window, resetsAtMs }: BudgetInTime): number | null {
  if (resetsAtMs === null) return null;
  switch (window) {
    case '1h':
      return resetsAtMs - hourMs;
    case '24h':
      return resetsAtMs - 24 * hourMs;
    case 'month': {
      const end = new Date(resetsAtMs);
      return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
    }
    case 'total':
      return null;
  }
}

type BudgetInTime = { window: '1h' | '24h' | 'month' | 'total'; resetsAtMs: number | null };
