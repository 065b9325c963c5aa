// The style sheets load with the page, not with the console.
import '../charts/charts.css';
import './agents.css';

export { AgentsPage } from './agents-page.tsx';
