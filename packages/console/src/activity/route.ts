// The style sheet loads with the page, not with the console.
import '../charts/charts.css';
import './activity.css';

export { ActivityPage } from './activity-page.tsx';
