import { columnsOf, rowCopier } from './row-copier.ts';
import { withAdmin } from './with-admin.ts';

/** The id and the principal of the budget that is copied. No call of the bench has this principal. */
export const filledName = 'fill';

/** Copies the budget `filledName`. Each copy limits a different subject, and no call of the bench has one of these. */
export async function fillBudgets(adminUrl: string, count: number): Promise<void> {
  await withAdmin(adminUrl, async (client) => {
    const columns = await columnsOf(client, 'budgets');
    const subjects = columns.filter((column) => column.startsWith('subject'));
    const renamed = (column: string) => `replace(original.${column}, '${filledName}', '${filledName}-' || copy)`;
    const copy = await rowCopier(client, {
      table: 'budgets',
      own: {
        budget_id: renamed('budget_id'),
        ...Object.fromEntries(subjects.map((column) => [column, renamed(column)])),
      },
      from: `budgets original, generate_series(1, $1::int) AS copy WHERE original.budget_id = '${filledName}'`,
    });
    const made = await copy([count]);
    if (made !== count) throw new Error(`${made} budgets were made instead of ${count}`);
    await client.query('VACUUM (ANALYZE) budgets');
  });
}
