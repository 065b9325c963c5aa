// The sheet loads with the page, and not with the console.
import './budgets.css';

export { BudgetsPage } from './budgets-page.tsx';
