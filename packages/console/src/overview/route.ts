// The sheets load with the page, and not with the console.
import '../charts/charts.css';
import './overview.css';

export { OverviewPage } from './overview-page.tsx';
