import { stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { applyWorkspaceSettings, getWorkspaceSettings, putWorkspaceSettings } from '@countersign/contracts/gateway';
import { listBudgets } from '@countersign/contracts/governance-kernel';
import { BudgetsPage } from '../src/budgets/budgets-page.tsx';

const settingsOf = (monthlyLlmBudget: number) => ({
  policyConfig: { maxIterationBudget: 25, blockedTools: [], deniedCall: 'end' },
  budgetConfig: { monthlyLlmBudget, currency: 'USD' },
  modelConfig: { provider: 'default', model: 'default', temperature: 0.7 },
});

function atBudgets(role: 'partner' | 'owner' = 'owner') {
  const here = stage();
  here.peer.answers(listBudgets, { data: [], next_cursor: null });
  here.peer.answers(getWorkspaceSettings, settingsOf(100), { etag: '"read"' });
  here.peer.answers(putWorkspaceSettings, settingsOf(99), { etag: '"kept"' });
  here.peer.answers(applyWorkspaceSettings, { ok: true });
  here.show(<BudgetsPage />, { role });
  const sent = () => here.peer.asked(putWorkspaceSettings).map(({ headers }) => headers.get('if-match'));
  return { ...here, sent };
}

async function setting() {
  const here = atBudgets();
  await here.user.click(await screen.findByRole('button', { name: 'Set the ceiling' }));
  const amount = await screen.findByLabelText(/^At most in a calendar month/);
  await here.user.clear(amount);
  await here.user.type(amount, '99');
  return { ...here, set: () => here.user.keyboard('{Enter}') };
}

describe('the ceiling of the month', () => {
  it('is set by owners alone', async () => {
    atBudgets('partner');
    await screen.findByText('Owners set ceilings.');
    await screen.findByRole('heading', { name: 'No budgets yet' });
    expect(screen.queryByRole('button', { name: /^Set/ })).toBeNull();
  });

  it('overwrites no change of a faster person: both are shown, and only then is one’s own set instead', async () => {
    const { peer, user, sent, set } = await setting();
    peer.refuses(putWorkspaceSettings, 'PRECONDITION_FAILED');
    peer.answers(getWorkspaceSettings, settingsOf(7), { etag: '"theirs"' });
    await set();
    await screen.findByRole('heading', { name: 'It changed in the meantime' });
    await screen.findByText('7 USD a month');
    expect(screen.getByText('99 USD a month')).toBeTruthy();
    expect(peer.asked(applyWorkspaceSettings)).toEqual([]);
    peer.answers(putWorkspaceSettings, settingsOf(99), { etag: '"kept"' });
    await user.click(screen.getByRole('button', { name: 'Set mine instead' }));
    await screen.findByRole('heading', { name: 'No budgets yet' });
    expect(sent()).toEqual(['"read"', '"theirs"']);
  });

  it('is not called set before the kernel has confirmed it, and goes on from what was kept', async () => {
    const { peer, sent, set } = await setting();
    peer.isAwayFor(applyWorkspaceSettings);
    await set();
    await screen.findByRole('heading', { name: 'The gateway does not answer' });
    expect(screen.getByRole('dialog')).toBeTruthy();
    peer.answers(applyWorkspaceSettings, { ok: true });
    await set();
    await screen.findByRole('heading', { name: 'No budgets yet' });
    expect(sent()).toEqual(['"read"', '"kept"']);
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});
