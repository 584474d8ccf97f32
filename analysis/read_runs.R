# The results of simgrad in R, with base R alone: Rscript analysis/read_runs.R out/house_prices
directory <- commandArgs(trailingOnly = TRUE)[1]
if (is.na(directory)) stop("give the directory that `simgrad run --out` has written")
runs <- read.csv(file.path(directory, "runs.csv"), check.names = FALSE)
curves <- merge(read.csv(file.path(directory, "curves.csv"), check.names = FALSE), runs[c("id", "label", "workers")],
                by.x = "run", by.y = "id")
mean_of <- function(x) if (all(is.na(x))) NA else mean(x, na.rm = TRUE)
# A line a strategy and number of workers: how many runs, how many of them diverged or failed, means over the others and
# the other keys of the grid. NA: nothing has the number, as the loss of a run that simulates time alone.
runs$unsound <- runs$status %in% c("diverged", "failed")
runs$final_loss[runs$unsound] <- NA
runs$simulated_s[runs$unsound] <- NA
rows <- runs[c("label", "workers")]
means <- aggregate(runs[c("simulated_s", "final_loss")], rows, mean_of)
print(merge(aggregate(cbind(runs = 1, unsound = runs$unsound), rows, sum), means, sort = FALSE))
# The lowest loss that each strategy came to.
known <- curves[!is.na(curves$loss), ]
if (nrow(known) > 0) print(aggregate(loss ~ label, data = known, FUN = min))
