// The style sheet loads with the page, not with the console.
import './budgets.css';

export { BudgetsPage } from './budgets-page.tsx';
