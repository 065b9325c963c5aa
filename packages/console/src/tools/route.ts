// The style sheets load with the page, not with the console.
import '../charts/charts.css';
import './tools.css';

export { ToolsPage } from './tools-page.tsx';
