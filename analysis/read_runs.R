# The results of simgrad in R, with base R alone: Rscript analysis/read_runs.R out/house_prices
directory <- commandArgs(trailingOnly = TRUE)[1]
if (is.na(directory)) stop("give the directory that `simgrad run --out` has written")
runs <- read.csv(file.path(directory, "runs.csv"), check.names = FALSE)
curves <- merge(read.csv(file.path(directory, "curves.csv"), check.names = FALSE), runs[c("id", "label", "workers")],
                by.x = "run", by.y = "id")
# A line a strategy and number of workers, means over seeds and the other keys of the grid.
print(aggregate(cbind(simulated_s, final_loss) ~ label + workers, data = runs, FUN = mean))
# The lowest loss that each strategy came to.
print(aggregate(loss ~ label, data = curves, FUN = min))
