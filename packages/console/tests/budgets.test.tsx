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
  const sent = () => here.peer.requests(putWorkspaceSettings).map(({ headers }) => headers.get('if-match'));
  return { ...here, sent };
}

async function setting() {
  const here = atBudgets();
  await here.user.click(await screen.findByRole('button', { name: 'Set the ceiling' }));
  const amount = await screen.findByLabelText(/^Ceiling for a calendar month/);
  await here.user.clear(amount);
  await here.user.type(amount, '99');
  return { ...here, set: () => here.user.keyboard('{Enter}') };
}

describe('the monthly ceiling', () => {
  it('is set only by owners', async () => {
    atBudgets('partner');
    await screen.findByText('Only owners can set ceilings.');
    await screen.findByRole('heading', { name: 'No budgets yet' });
    expect(screen.queryByRole('button', { name: /^Set/ })).toBeNull();
  });

  it('does not overwrite a newer change: both values are shown before the person sets their own', async () => {
    const { peer, user, sent, set } = await setting();
    peer.refuses(putWorkspaceSettings, 'PRECONDITION_FAILED');
    peer.answers(getWorkspaceSettings, settingsOf(7), { etag: '"theirs"' });
    await set();
    await screen.findByRole('heading', { name: 'It changed in the meantime' });
    await screen.findByText('7 USD a month');
    expect(screen.getByText('99 USD a month')).toBeTruthy();
    expect(peer.requests(applyWorkspaceSettings)).toEqual([]);
    peer.answers(putWorkspaceSettings, settingsOf(99), { etag: '"kept"' });
    await user.click(screen.getByRole('button', { name: 'Set mine instead' }));
    await screen.findByRole('heading', { name: 'No budgets yet' });
    expect(sent()).toEqual(['"read"', '"theirs"']);
  });

  it('is not reported as set before the kernel has confirmed it, and a retry continues from the stored version', async () => {
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
